"""What a kind and a channel declare about themselves. Checked when declared, not when first needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import time, timedelta
from enum import IntEnum
from typing import Any, Literal, get_args

from ..errors import InvalidInput
from .retry import Backoff
from .text import NAME_CHARACTERS, checked

OnUncertain = Literal["hold", "resend", "assume_sent"]
Mode = Literal["live", "shadow", "off"]
Copy = Literal["none", "hash", "full"]
Passed = Literal["newest", "skip"]

LONGEST_SEND_SECONDS = 900
LONGEST_SPAN = timedelta(days=36_525)
LARGEST_DIGEST = 1_000
LONGEST_SPREAD = timedelta(hours=12)
FARTHEST_STEP_DAYS = 3_650
MOST_STEPS = 50

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
    if not isinstance(span, timedelta):
        raise InvalidInput(field_name, f"must be a timedelta, such as timedelta(minutes=15), not {type(span).__name__}")
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
class DeadlinePolicy:
    """When a kind reminds of a date.

    `days`: how many before the date; 0 is the day itself, a negative number is days after it. `at`: the time of day, in
    the deadline's zone. `repeat`: steps that were sent for one date are sent again when it moves; without it only until
    the deadline is completed or over. `passed`: of steps whose time has passed when the date is set, the "newest" is
    sent at once, or all are left out ("skip"); what is left out is on record.
    """

    days: tuple[int, ...] = (30, 7, 1)
    at: time = time(9)
    repeat: bool = True
    passed: Passed = "newest"

    def __post_init__(self) -> None:
        object.__setattr__(self, "days", tuple(self.days))
        if not self.days or len(set(self.days)) != len(self.days):
            raise InvalidInput("deadline.days", "must name at least one day, and none of them twice")
        for days in self.days:
            if type(days) is not int or abs(days) > FARTHEST_STEP_DAYS:
                raise InvalidInput("deadline.days", f"{days!r} is no whole number of days up to {FARTHEST_STEP_DAYS}")
        if len(self.days) > MOST_STEPS:
            raise InvalidInput("deadline.days", f"must name at most {MOST_STEPS} days")
        if not isinstance(self.at, time) or self.at.tzinfo is not None:  # type: ignore[redundant-expr]
            raise InvalidInput("deadline.at", "must be a time of day without a zone, such as time(9, 0)")
        checked_choice("deadline.passed", self.passed, get_args(Passed))


UNREAD_RETENTION = Retention(timedelta(days=7), timedelta(days=30), timedelta(days=30), timedelta(days=30))
"""What a kind with unread messages keeps unless it says otherwise: there is an identity for each message and recipient,
and nobody asks for them a year later."""

Delay = timedelta | Mapping[str, timedelta] | Callable[[str, str | None], timedelta]


@dataclass(frozen=True, slots=True)
class UnreadPolicy:
    """When a kind reminds of an unread message.

    `after`: how long it may stay unread; by class of recipient, where it is a table, or a function of recipient and
    class. `count_unread`, `read_up_to`: an application that keeps its own messages says by these, of a conversation and
    a recipient, how many are unread and up to which position they have been read; functions that are awaited or not.
    """

    after: Delay = timedelta(minutes=15)
    count_unread: Callable[[str, str], Any] | None = None
    read_up_to: Callable[[str, str], Any] | None = None

    def delay(self, recipient: str, of_class: str | None) -> timedelta:
        """Return how long a message may stay unread by a recipient; raises InvalidInput for an unknown class."""
        if isinstance(self.after, timedelta):
            found: object = self.after
        elif callable(self.after):
            found = self.after(recipient, of_class)
        elif of_class is not None and of_class in self.after:
            found = self.after[of_class]
        else:
            known = ", ".join(sorted(self.after))
            raise InvalidInput("recipients", f"{recipient!r} is of class {of_class!r}; the kind knows {known}")
        if not isinstance(found, timedelta):
            raise InvalidInput("after", f"must be a length of time, not {type(found).__name__}")
        checked_span("after", found, zero=True)
        return found


@dataclass(frozen=True, slots=True)
class DigestPolicy:
    """How a kind gathers items into one message for each recipient and period.

    `daily_at`: a period ends every day at this time of day; without it, every hour (in UTC). `zone`: whose clock that
    is; None means each recipient's, stated with the items. `limit`: how many items a digest holds, the highest scores
    first. `overflow`: what did not fit is carried to the next one, or dropped. `expire_after`: an item that has waited
    so long since it was ready is worth nothing. `catch_up`: after an outage one digest stands for all missed periods
    ("combine", at most `most`, the newest), or for the "latest" only, or what was missed waits for the next ("skip").
    `unsent`: the items of a digest that ended unsent are carried to the next one, or recorded as undelivered.
    `unread_of`: the items are what is unread of that kind of messages.
    """

    daily_at: time | None = None
    zone: str | None = "UTC"
    limit: int = 50
    overflow: Literal["carry", "drop"] = "carry"
    expire_after: timedelta | None = timedelta(days=7)
    catch_up: Literal["combine", "latest", "skip"] = "combine"
    most: int = 24
    unsent: Literal["carry", "undelivered"] = "carry"
    unread_of: str | None = None

    def __post_init__(self) -> None:
        if self.daily_at is None and self.zone != "UTC":
            raise InvalidInput("digest.zone", "hours are counted in UTC; state daily_at for a local time")
        if self.daily_at is not None and (self.daily_at.tzinfo or self.daily_at.second or self.daily_at.microsecond):
            raise InvalidInput("digest.daily_at", "must be a time of day to the minute and without a zone: time(9, 0)")
        if self.unread_of is not None and self.zone is None:
            raise InvalidInput("digest.zone", "messages state no zone of their recipients; state one for the kind")
        if not 1 <= self.limit <= LARGEST_DIGEST:
            raise InvalidInput("digest.limit", f"must be between 1 and {LARGEST_DIGEST}")
        if not 1 <= self.most <= LARGEST_DIGEST:
            raise InvalidInput("digest.most", f"must be between 1 and {LARGEST_DIGEST}")
        if self.expire_after is not None:
            checked_span("digest.expire_after", self.expire_after)
        checked_choice("digest.overflow", self.overflow, ("carry", "drop"))
        checked_choice("digest.catch_up", self.catch_up, ("combine", "latest", "skip"))
        checked_choice("digest.unsent", self.unsent, ("carry", "undelivered"))


@dataclass(frozen=True, slots=True)
class AttentionLimit:
    """At most so many messages to one recipient within a length of time, over all kinds with a limit of this name. What
    is over it waits, on record, until there is room; it uses no attempt."""

    name: str
    most: int
    per: timedelta = timedelta(days=1)

    def __post_init__(self) -> None:
        checked_name("attention.name", self.name)
        if not 1 <= self.most <= LARGEST_DIGEST:
            raise InvalidInput("attention.most", f"must be between 1 and {LARGEST_DIGEST}")
        checked_span("attention.per", self.per)


@dataclass(frozen=True, slots=True)
class Kind:
    """A registered type of notification. Lengths of time say their bounds in `__post_init__`.

    `keep_copy`: what is kept of a message once it is accepted: "full", until the bodies' age is over; its "hash" in
    the ledger; or "none". `spread`: what a schedule or a deadline makes due at one instant is spread over so long, by
    recipient. `deadline`: it reminds of dates, by this policy. `unread`: it reminds of unread messages.
    `digest`: it gathers items by period. `attention`: how much of it one recipient gets.
    `essential`: no wish of its recipient stops it, such as a password reset. `channels`: others it can go over, for
    people who prefer one or want none of its own.
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
    spread: timedelta | None = None
    deadline: DeadlinePolicy | None = None
    unread: UnreadPolicy | None = None
    digest: DigestPolicy | None = None
    attention: AttentionLimit | None = None
    essential: bool = False
    channels: tuple[str, ...] = ()

    @property
    def able(self) -> tuple[str, ...]:
        """The channels it can go over, its own first."""
        return (self.channel, *self.channels)

    @property
    def reads_facts(self) -> bool:
        """Say whether something beside its notifications is read when they fire."""
        return self.deadline is not None or self.unread is not None or self.digest is not None

    def __post_init__(self) -> None:
        checked_name("kind", self.name)
        checked_name("channel", self.channel)
        object.__setattr__(self, "channels", tuple(self.channels))
        for channel in self.channels:
            checked_name("channels", channel)
        checked_choice("on_uncertain", self.on_uncertain, get_args(OnUncertain))
        checked_choice("keep_copy", self.keep_copy, get_args(Copy))
        checked_span("patience", self.patience)
        if self.max_lateness is not None:
            checked_span("max_lateness", self.max_lateness)
        if self.spread is not None:
            checked_span("spread", self.spread)
            if self.spread > LONGEST_SPREAD:
                raise InvalidInput("spread", f"must not be longer than {LONGEST_SPREAD}")
        if not 0 < self.handler_seconds <= 3_600:
            raise InvalidInput("handler_seconds", "must be between 0 and 3600 seconds")


@dataclass(frozen=True, slots=True)
class ChannelPolicy:
    """What a channel promises and how hard it may be driven.

    `key_window`: how long the provider deduplicates by idempotency key; None says it does not.
    `rate`: sends per second over all workers. `send_seconds`: the longest one attempt may take.
    `pause`: how long a throttle without a time of its own holds the channel. `breaker`: after so many sends in a row
    that failed the channel pauses, and one send tries it out again; 0 where failures of one receiver say nothing about
    the others.
    """

    name: str
    key_window: timedelta | None = None
    concurrency: int = 20
    rate: float | None = None
    send_seconds: float = 15.0
    pause: timedelta = timedelta(seconds=30)
    breaker: int = 20

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
        if not 0 <= self.breaker <= 10_000:
            raise InvalidInput("breaker", "must be between 0 (never) and 10000")
