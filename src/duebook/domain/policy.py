"""What a kind and a channel declare about themselves. Checked when declared, not when first needed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from enum import IntEnum
from typing import Literal, get_args

from ..errors import InvalidInput
from .retry import Backoff
from .text import NAME_CHARACTERS, checked

OnUncertain = Literal["hold", "resend", "assume_sent"]
Mode = Literal["live", "shadow", "off"]
Copy = Literal["none", "hash", "full"]

LONGEST_SEND_SECONDS = 900
LONGEST_SPAN = timedelta(days=36_525)

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class Priority(IntEnum):
    """The class of a kind. Lower goes first, but each class keeps a guaranteed share."""

    URGENT = 0
    NORMAL = 1
    BULK = 2

    @classmethod
    def named(cls, name: str) -> Priority:
        try:
            return cls[name.upper()]
        except KeyError:
            raise InvalidInput("priority", f"{name!r} is not one of urgent, normal, bulk") from None


def checked_name(field_name: str, name: str) -> str:
    """Return a name of letters, digits, dot, dash and underscore; colons would make two identities look alike."""
    checked(field_name, name, NAME_CHARACTERS)
    if not _NAME.fullmatch(name):
        raise InvalidInput(field_name, f"{name!r} may only hold letters, digits, '.', '-' and '_'")
    return name


def checked_choice(field_name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidInput(field_name, f"{value!r} is not one of {', '.join(choices)}")


def checked_span(field_name: str, span: timedelta, *, zero: bool = False) -> None:
    if span < timedelta(0) or (not zero and span == timedelta(0)):
        raise InvalidInput(field_name, f"must be a positive length of time, not {span}")
    if span > LONGEST_SPAN:
        raise InvalidInput(field_name, f"is longer than {LONGEST_SPAN.days // 365} years")


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a closed notification of a kind keeps each part of itself.

    `bodies`: rendered messages and the application's data; `ledger`: attempts and history; `rows`: the
    notification. The identity outlives them all unless `memory` states a shorter one.
    """

    bodies: timedelta = timedelta(days=30)
    ledger: timedelta = timedelta(days=180)
    rows: timedelta = timedelta(days=365)
    memory: timedelta | None = None

    def __post_init__(self) -> None:
        for name in ("bodies", "ledger", "rows"):
            checked_span(f"retention.{name}", getattr(self, name), zero=True)
        if not self.bodies <= self.ledger <= self.rows:
            raise InvalidInput("retention", "must satisfy bodies ≤ ledger ≤ rows")
        if self.memory is not None:
            checked_span("retention.memory", self.memory, zero=True)
        if self.memory is not None and self.memory < self.rows:
            raise InvalidInput("retention.memory", "must not be shorter than rows: a row needs its identity")


@dataclass(frozen=True, slots=True)
class Kind:
    """A registered type of notification. Lengths of time say their bounds in `__post_init__`.

    `keep_copy`: what is kept of a message once it is accepted: "full", until the bodies' age is over; its "hash" in
    the ledger; or "none".
    """

    name: str
    channel: str
    priority: Priority = Priority.NORMAL
    retry: Backoff = field(default_factory=Backoff)
    max_lateness: timedelta | None = None
    on_uncertain: OnUncertain = "hold"
    handler_seconds: float = 10.0
    patience: timedelta = timedelta(days=7)
    keep_copy: Copy = "full"
    retention: Retention = field(default_factory=Retention)

    def __post_init__(self) -> None:
        checked_name("kind", self.name)
        checked_name("channel", self.channel)
        checked_choice("on_uncertain", self.on_uncertain, get_args(OnUncertain))
        checked_choice("keep_copy", self.keep_copy, get_args(Copy))
        checked_span("patience", self.patience)
        if self.max_lateness is not None:
            checked_span("max_lateness", self.max_lateness)
        if not 0 < self.handler_seconds <= 3_600:
            raise InvalidInput("handler_seconds", "must be between 0 and 3600 seconds")


@dataclass(frozen=True, slots=True)
class ChannelPolicy:
    """What a channel promises and how hard it may be driven.

    `key_window`: how long the provider deduplicates by idempotency key; None says it does not.
    `rate`: sends per second over all workers. `send_seconds`: the longest one attempt may take.
    `pause`: how long a throttle without a time of its own holds the channel.
    """

    name: str
    key_window: timedelta | None = None
    concurrency: int = 20
    rate: float | None = None
    send_seconds: float = 15.0
    pause: timedelta = timedelta(seconds=30)

    def __post_init__(self) -> None:
        checked_name("channel", self.name)
        if self.key_window is not None:
            checked_span("key_window", self.key_window)
        if not 1 <= self.concurrency <= 10_000:
            raise InvalidInput("concurrency", "must be between 1 and 10000")
        if self.rate is not None and not 0 < self.rate <= 1_000_000:
            raise InvalidInput("rate", "must be a positive number of sends per second")
        if not 0 < self.send_seconds <= LONGEST_SEND_SECONDS:
            raise InvalidInput("send_seconds", f"must be between 0 and {LONGEST_SEND_SECONDS} seconds")
        checked_span("pause", self.pause)
