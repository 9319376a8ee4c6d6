"""What a channel answers about one attempt to send.

The five answers differ in what is *known*, which is all the lifecycle needs. An exception that nobody mapped
is Uncertain: between the first byte and the reply, a guess in either direction harms somebody.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from .text import NAME_CHARACTERS, PROVIDER_ID_CHARACTERS, clean


@dataclass(frozen=True, slots=True)
class Accepted:
    """The provider took the message. `provider_id` is its name for it, if it gave one."""

    provider_id: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """Refused for good: the same message will never be taken."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Provably not accepted, and worth another try; `after` is the provider's own wish, if it stated one."""

    reason: str
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Throttled:
    """Provably not accepted because the provider wants less: the channel pauses until `until`, no attempt is used.

    Without `until` the channel pauses for its own default.
    """

    reason: str = "throttled"
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Uncertain:
    """Nobody knows whether it was accepted. `phase` says where the conversation broke."""

    reason: str
    phase: str = ""


Outcome = Accepted | Rejected | Retry | Throttled | Uncertain


def safe(outcome: Outcome) -> Outcome:
    """Return the outcome with every text in it fit to be stored: what a provider says must not cost a record.

    A wish that is no length of time, or no instant, is ignored, as a malformed Retry-After is.
    """
    match outcome:
        case Accepted(provider_id):
            return Accepted(clean(str(provider_id), PROVIDER_ID_CHARACTERS) if provider_id is not None else None)
        case Rejected(reason):
            return Rejected(_words(reason))
        case Retry(reason, after):
            return Retry(_words(reason), after if isinstance(after, timedelta) else None)
        case Throttled(reason, until):
            known = isinstance(until, datetime) and until.tzinfo is not None
            return Throttled(_words(reason), until if known else None)
        case Uncertain(reason, phase):
            return Uncertain(_words(reason), clean(str(phase), NAME_CHARACTERS))


def _words(reason: object) -> str:
    return clean(str(reason)) or "no reason was given"


def from_exception(error: BaseException) -> Uncertain:
    """Turn an exception that a channel did not map into the only honest outcome."""
    return Uncertain(clean(f"{type(error).__name__}: {error}"), phase="unknown")
