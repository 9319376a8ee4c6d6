"""What must hold of everything on record, one named function each.

A check is given one record, as a single statement saw it, and what surrounds it; it answers what is wrong, or None. No
two checks judge the same thing, so that one fault has one name: where another check already speaks, a check is silent.

The databases refuse most of this by themselves. This is the second wall: for a dump restored without its constraints,
for a change by hand, and for what no constraint can see because it lies in several tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .audited import LedgerOwner, MoveEntry, Record, RememberedName, Surroundings, held_up, is_overdue, said
from .lifecycle import CLOSED, EDGES, NEEDS_CERTAINTY, Event, State
from .notification import IN_DOUBT

Check = Callable[[Record, Surroundings], str | None]

LEGAL = frozenset((edge.state.value, edge.event.value, edge.next.value) for edge in EDGES)
UNWRITTEN = frozenset(
    [(Event.CLAIM.value, State.CLAIMED.value), (Event.BEGIN.value, State.SENDING.value)]
    + [(edge.event.value, edge.next.value) for edge in EDGES if edge.state is State.SENDING]
)
"""Moves that leave no row in the history: the notification itself or the ledger has them."""

_REFUSALS = frozenset({"rejected", "retry", "throttled"})
OUTCOMES: Mapping[str, frozenset[str]] = {
    Event.ACCEPT: frozenset({"accepted"}),
    Event.REJECT: frozenset({"rejected"}),
    Event.RETRY: frozenset({"retry"}),
    Event.THROTTLE: frozenset({"throttled"}),
    Event.EXHAUST: _REFUSALS - {"rejected"},
    Event.TIME_OUT: frozenset({"uncertain"}),
    Event.DOUBT: _REFUSALS,
    Event.LOSE: frozenset({"lost"}),
}
"""What the last attempt came to, where that made the last move."""

INSTANT: Mapping[str, str] = {
    State.SCHEDULED: "wake_at",
    State.CLAIMED: "lease_until",
    State.SENDING: "lease_until",
    State.UNCERTAIN: "attention_at",
    State.REVIEW: "review_at",
    **dict.fromkeys(CLOSED, "closed_at"),
}
_INSTANTS = ("wake_at", "lease_until", "attention_at", "review_at", "closed_at")
_ROUND = (State.SCHEDULED.value, State.CLAIMED.value, State.SENDING.value)
_AFTER_SENDING = frozenset(edge.next.value for edge in EDGES if edge.state is State.SENDING)
_SAYS_WHY = (NEEDS_CERTAINTY | CLOSED) - {State.ACCEPTED}


def identity_points_back(n: Record, _: Surroundings) -> str | None:
    """Every notification has exactly one identity, which points to it and knows the same recipient."""
    if not n.identities:
        return "it has no identity, so its name could be used again"
    if len(n.identities) > 1:
        return f"it has {len(n.identities)} identities"
    id, recipient = n.identities[0]
    if id != n.id:
        return f"its identity points to notification {id}"
    return None if recipient == n.recipient else "its identity is about another recipient"


def state_has_its_instant(n: Record, _: Surroundings) -> str | None:
    """Each state has its one instant and no other."""
    wanted = INSTANT.get(n.state)
    if wanted is None:
        return f"there is no state {n.state!r}"
    found = [name for name in _INSTANTS if getattr(n, name) is not None]
    return None if found == [wanted] else f"{n.state} needs {wanted} alone, and has {', '.join(found) or 'none'}"


def state_has_its_grounds(n: Record, _: Surroundings) -> str | None:
    """What is on the wire has its message; accepted has a basis; "not sent" is said only without doubt."""
    if n.state == State.SENDING and not (n.has_message and n.begun_at is not None):
        return "it is on the wire without a message or a time of begin"
    if (n.state == State.ACCEPTED) != (n.basis is not None):
        return f"it is {n.state} with {f'basis {n.basis}' if n.basis else 'no basis'}"
    if n.doubt and n.state in NEEDS_CERTAINTY:
        return f"it is {n.state} while {n.doubt} attempts are in doubt"
    if n.wanted is not None and n.state != State.UNCERTAIN:
        return f"it is {n.state} and still wants to be {n.wanted}"
    return None


def end_has_its_reason(n: Record, _: Surroundings) -> str | None:
    """What ended otherwise than accepted says why; accepted says on what basis instead."""
    return f"it is {n.state} and says no reason" if n.state in _SAYS_WHY and not n.has_reason else None


def lease_has_its_holder(n: Record, _: Surroundings) -> str | None:
    """Held notifications have a holder, others have none."""
    held = n.state in (State.CLAIMED, State.SENDING)
    if held == (n.holder is not None):
        return None
    return f"it is {n.state} and held by nobody" if held else f"it is {n.state} and still held by {n.holder}"


def lease_is_rescued(n: Record, around: Surroundings) -> str | None:
    """A lease that ran out is taken back soon."""
    if n.lease_until is None or n.lease_until >= around.leased_before:
        return None
    return f"its lease ran out at {said(n.lease_until)}, and nobody took it back: no worker runs"


def history_is_lawful(n: Record, _: Surroundings) -> str | None:
    """Each recorded move is one of the lifecycle."""
    illegal = _illegal(n)
    return f"version {illegal.version}: {illegal.state} {illegal.event} {illegal.next} is no move" if illegal else None


def history_is_chained(n: Record, _: Surroundings) -> str | None:
    """The recorded moves, the attempts and the claims between them lead, version by version, to where it is."""
    if n.pruned > 1 or _illegal(n):
        return None
    version, state, ended = 1, State.SCHEDULED.value, 0
    if n.history and n.history[0].event == Event.REARM:
        # Retention had removed what was before, and a notification that is armed again is whole again.
        version, state = n.history[0].version - 1, State.CANCELLED.value
    legs = [(entry.state, entry.version - 1, entry.version, entry.next) for entry in n.history]
    if not n.history or n.history[-1].version != n.version:
        if (n.event, n.state) not in UNWRITTEN and n.version > 1:
            return None
        legs.append((n.state, n.version, n.version, n.state))
    for reached, until, following, after in legs:
        attempts = _attempts_between(state, reached, until - version)
        if attempts is None:
            return f"no way leads from {state} at version {version} to {reached} at version {until}"
        version, state, ended = following, after, ended + attempts
    if ended != len(n.ended) and n.is_gapless:
        return f"its versions tell of {ended} attempts that ended, its ledger of {len(n.ended)}"
    return None


def last_move_is_recorded(n: Record, _: Surroundings) -> str | None:
    """The last recorded move is the one the notification says, unless that leaves no row in the history."""
    last = n.history[-1] if n.history else None
    shown = (n.event, n.state)
    if n.pruned > 1:
        return None
    if last is not None and last.version == n.version:
        recorded = (last.event, last.next)
        return None if recorded == shown else f"it says {' to '.join(shown)}, the history {' to '.join(recorded)}"
    if n.version == 1:
        born = (Event.SCHEDULE.value, State.SCHEDULED.value)
        return None if shown == born else f"it says {' to '.join(shown)} at its first version"
    return None if shown in UNWRITTEN else f"it says {' to '.join(shown)}, and the history has nothing at {n.version}"


def attempts_are_gapless(n: Record, _: Surroundings) -> str | None:
    """The ledger has every attempt that ended, and none else."""
    if n.pruned > 1 or n.is_gapless:
        return None
    found = ", ".join(str(attempt.number) for attempt in n.attempts) or "none"
    return f"attempts 1 to {len(n.ended)} have ended, the ledger has {found}" if n.ended else (
        f"no attempt has ended, the ledger has {found}"
    )  # fmt: skip


def doubt_is_counted(n: Record, _: Surroundings) -> str | None:
    """Doubt is the number of attempts that ended uncertain or lost and that no evidence has resolved."""
    counted = sum(attempt.outcome in IN_DOUBT and attempt.resolution is None for attempt in n.attempts)
    if n.pruned > 1 or counted == n.doubt:
        return None
    return f"it says that {n.doubt} attempts are in doubt, the ledger says {counted}"


def outcome_fits_the_state(n: Record, _: Surroundings) -> str | None:
    """Accepted as reported means that the last attempt was accepted and no other; anything else that none was."""
    if n.pruned > 1 or not n.is_gapless or (n.state == State.ACCEPTED and n.basis is None):
        return None
    taken = [attempt.number for attempt in n.attempts if attempt.outcome == "accepted"]
    if taken != ([n.number] if n.basis == "reported" else []):
        numbers = ", ".join(map(str, taken)) or "none"
        return (
            f"it is {n.state}{f' as {n.basis}' if n.basis else ''}, and of its attempts these were accepted: {numbers}"
        )
    believed = any(attempt.resolution == "accepted" for attempt in n.attempts)
    if n.basis == "evidence" and not (believed or n.vouched):
        return "it is accepted on evidence, and there is none"
    if believed and n.state not in (State.ACCEPTED, State.DROPPED):
        return f"it is {n.state}, and evidence says that an attempt was accepted"
    by_attempt = n.attempts and n.event in OUTCOMES and (not n.history or n.history[-1].version != n.version)
    if by_attempt and n.state in _AFTER_SENDING and n.attempts[-1].outcome not in OUTCOMES[n.event]:
        return f"it says {n.event}, and its last attempt came to {n.attempts[-1].outcome}"
    return None


def retention_is_kept(n: Record, _: Surroundings) -> str | None:
    """What retention let go of is gone, and it lets go of nothing that is open."""
    if n.pruned > 1 and n.closed_at is None:
        return f"it is {n.state}, and its ledger was let go of"
    if n.pruned > 1 and (n.attempts or n.history):
        return "its ledger was let go of, and is still there"
    if n.pruned and n.closed_at is not None and (n.has_message or not n.bare):
        return f"its {'message' if n.has_message else 'data'} was let go of, and is still there"
    return None


def nothing_is_overdue(n: Record, around: Surroundings) -> str | None:
    """What is due has been looked at, or something says why not."""
    if not is_overdue(n, around) or held_up(n, around):
        return None
    return f"it was to be looked at at {said(n.wake_at)}; nothing is paused, and workers serve its kind"


CHECKS: tuple[Check, ...] = (
    identity_points_back, state_has_its_instant, state_has_its_grounds, end_has_its_reason, lease_has_its_holder,
    lease_is_rescued, history_is_lawful, history_is_chained, last_move_is_recorded, attempts_are_gapless,
    doubt_is_counted, outcome_fits_the_state, retention_is_kept, nothing_is_overdue,
)  # fmt: skip


def identity_remembers(i: RememberedName, _: Surroundings) -> str | None:
    """An identity points to the notification of its name, or remembers how that ended."""
    if i.kind_there is not None:
        same = (i.kind, i.key) == (i.kind_there, i.key_there)
        return None if same else f"it points to {i.notification_id}, which is {i.kind_there}/{i.key_there}"
    if i.state in CLOSED and i.closed_at is not None:
        return None
    return f"notification {i.notification_id} is gone, and nothing is remembered of its end"


def ledger_has_its_notification(owner: LedgerOwner, _: Surroundings) -> str | None:
    """Attempts, history and evidence belong to a notification."""
    if owner.exists:
        return None
    counts = {"attempts": owner.attempts, "rows of history": owner.history, "rows of evidence": owner.evidence}
    return f"it does not exist, and has {', '.join(f'{number} {what}' for what, number in counts.items() if number)}"


def _illegal(n: Record) -> MoveEntry | None:
    return next((entry for entry in n.history if (entry.state, entry.event, entry.next) not in LEGAL), None)


def _attempts_between(state: str, after: str, moves: int) -> int | None:
    """Return how many attempts end where so many moves that leave no row in the history lead from one state to
    another, or None where they cannot: they are claim, begin, and the end of an attempt, over and over."""
    if moves <= 0 or state not in _ROUND:
        return 0 if moves == 0 and state == after else None
    attempts, place = divmod(_ROUND.index(state) + moves, len(_ROUND))
    reached = _AFTER_SENDING if place == 0 else {_ROUND[place]}
    return attempts if after in reached else None
