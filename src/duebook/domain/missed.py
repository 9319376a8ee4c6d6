"""Periods and steps that got no notification of their own, and why. On record, so that a restart finds nothing to redo
and a person who asks "where was Tuesday's?" gets an answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Source = Literal["schedule", "deadline", "digest"]


@dataclass(frozen=True, slots=True)
class Missed:
    """A run of periods with one fate. `name`: of the schedule or the deadline. `combined_into`: the label of the period
    whose notification stands for these, too."""

    source: Source
    kind: str
    name: str
    recipient: str
    first_label: str
    last_label: str
    first_at: datetime
    last_at: datetime
    periods: int
    outcome: Literal["skipped", "combined"]
    reason: str
    combined_into: str | None
    recorded_at: datetime
