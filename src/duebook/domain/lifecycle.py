"""The lifecycle of a notification, and nothing else.

Two rules. Everything that decides which state may follow which is in this table. This file knows nothing but the table.

The databases hold the same moves in a trigger, the diagram in the docs is printed from them, and a test walks
every pair of state and event. A `why` that is empty needs no words.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ..errors import IllegalMove


class State(StrEnum):
    """Where a notification is. Participles: what has happened to it last."""

    SCHEDULED = "scheduled"
    CLAIMED = "claimed"
    SENDING = "sending"
    UNCERTAIN = "uncertain"
    REVIEW = "review"
    ACCEPTED = "accepted"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    DROPPED = "dropped"


class Event(StrEnum):
    """What can happen to a notification. Bare verbs."""

    SCHEDULE = "schedule"
    CLAIM = "claim"
    RESCHEDULE = "reschedule"
    CANCEL = "cancel"
    EXPIRE = "expire"
    CONFIRM = "confirm"
    DOUBT = "doubt"
    BEGIN = "begin"
    SKIP = "skip"
    DEFER = "defer"
    REJECT = "reject"
    EXHAUST = "exhaust"
    LOSE = "lose"
    ACCEPT = "accept"
    RETRY = "retry"
    THROTTLE = "throttle"
    TIME_OUT = "time_out"
    DISPROVE = "disprove"
    REPEAT = "repeat"
    ASSUME = "assume"
    RESOLVE_SENT = "resolve_sent"
    RESOLVE_RESEND = "resolve_resend"
    RESOLVE_DROP = "resolve_drop"
    REDRIVE = "redrive"
    DROP = "drop"
    REARM = "rearm"


class Edge(NamedTuple):
    state: State
    event: Event
    next: State
    who: str
    why: str


_TABLE = """
scheduled  claim           claimed    lane            held under lease and version
scheduled  reschedule      scheduled  app             new time, new version
scheduled  cancel          cancelled  app
scheduled  expire          skipped    sweeper         worth nothing before its turn came
scheduled  confirm         accepted   reconciler      late evidence while it waited to be repeated
scheduled  doubt           uncertain  any             it would close while an attempt is unresolved
claimed    begin           sending    lane            the recheck said send; intent and message recorded BEFORE the call
claimed    skip            skipped    lane            read, covered, suppressed, expired
claimed    defer           scheduled  lane            not now: quiet hours, a guard, a handler that raised, a worker that stops
claimed    cancel          cancelled  lane,app        a guard said never, or its owner withdrew it: owners win until begin
claimed    reschedule      scheduled  app
claimed    reject          review     lane            it can never be sent as it is
claimed    exhaust         review     lane            attempts or patience used up before anything was sent
claimed    lose            scheduled  rescuer         lease ran out; nothing was sent, so again is safe
claimed    confirm         accepted   reconciler
claimed    doubt           uncertain  any
sending    accept          accepted   lane            the provider took it
sending    reject          review     lane            permanent refusal
sending    retry           scheduled  lane            provably not accepted; backoff
sending    throttle        scheduled  lane            429: no attempt used; bounded by age
sending    exhaust         review     lane
sending    time_out        uncertain  lane            timeout or broken connection: nobody knows
sending    doubt           uncertain  lane            this attempt failed, an earlier one is unresolved
sending    lose            uncertain  rescuer         the worker died between intent and outcome
uncertain  confirm         accepted   reconciler      evidence: look-up, receipt, a stale worker's report
uncertain  disprove        review     reconciler      evidence that it was refused
uncertain  repeat          scheduled  reconciler      lawful: the key still protects, or absence is proved
uncertain  assume          accepted   reconciler      the kind's policy says assume sent
uncertain  resolve_sent    accepted   reviewer
uncertain  resolve_resend  scheduled  reviewer
uncertain  resolve_drop    dropped    reviewer
review     redrive         scheduled  reviewer,app    same identity, same idempotency key, fresh budget
review     cancel          cancelled  app
review     drop            dropped    reviewer
review     confirm         accepted   reconciler
cancelled  rearm           scheduled  app             scheduled again, where nothing ever reached sending
"""


def _parse(table: str) -> tuple[Edge, ...]:
    edges = []
    for line in table.strip().splitlines():
        state, event, following, who, *why = line.split(maxsplit=4)
        edges.append(Edge(State(state), Event(event), State(following), who, why[0] if why else ""))
    return tuple(edges)


EDGES: tuple[Edge, ...] = _parse(_TABLE)
_NEXT: dict[tuple[State, Event], State] = {(edge.state, edge.event): edge.next for edge in EDGES}

CLOSED = frozenset({State.ACCEPTED, State.SKIPPED, State.CANCELLED, State.DROPPED})
"""No worker looks at these again."""


NEEDS_CERTAINTY = frozenset({State.SKIPPED, State.CANCELLED, State.REVIEW})
"""States that say or suggest "not sent"; entering them demands that no attempt is in doubt."""


def step(state: State, event: Event) -> State:
    """Return the state that follows, or raise IllegalMove."""
    try:
        return _NEXT[state, event]
    except KeyError:
        raise IllegalMove(state, event) from None
