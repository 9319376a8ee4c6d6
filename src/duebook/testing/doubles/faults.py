"""What a provider of any protocol can do instead of answering."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drop:
    """Read what was asked, and close the connection without an answer. `take`: it was accepted all the same."""

    take: bool = False


@dataclass(frozen=True, slots=True)
class Hang:
    """Read what was asked, and never answer. `take`: it was accepted all the same."""

    take: bool = False
