"""The story of one notification, told to a person: what was promised, what happened, why it ended as it did, what is at
risk, and what is no longer on record. Pure: records in, lines of text out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from ..domain import deciding, ownership, people
from ..domain.identity import idempotency_key
from ..domain.lifecycle import Event, State
from ..domain.notification import Attempt, Notification
from ..domain.policy import Priority
from ..domain.receipt import Receipt
from ..domain.recovery import Evidence
from ..domain.story import Entry, Story
from .subject import subject
from .wording import ahead, first_line, instant, span

INDENT = "  "
FORGOTTEN = "forgotten-"

_OUTCOMES = {
    "accepted": "the provider accepted it",
    "rejected": "the provider refused it for good",
    "retry": "provably not accepted, worth another try",
    "throttled": "not accepted, the provider asked for less",
    "uncertain": "nobody knows whether it was accepted",
    "lost": "its worker never reported, so nobody knows whether it was accepted",
}

_EVENTS = {
    "reschedule": "given another time",
    "cancel": "withdrawn",
    "expire": "expired unsent",
    "confirm": "settled as accepted",
    "doubt": "held, because an attempt is in doubt",
    "skip": "skipped",
    "defer": "put off",
    "reject": "sent to review: it can never be sent as it is",
    "exhaust": "given up and sent to review",
    "lose": "taken back from a worker that vanished",
    "disprove": "sent to review: evidence says it was not accepted",
    "repeat": "to be repeated, lawfully",
    "assume": "assumed to be sent, as its kind's policy says",
    "resolve_sent": "ruled by a person: it was sent",
    "resolve_resend": "ruled by a person: send it again, at the risk of a second copy",
    "resolve_drop": "ruled by a person: drop it",
    "redrive": "sent back from review by a person",
    "drop": "dropped for good by a person",
    "rearm": "scheduled again after it was cancelled",
}

_BASES = {
    "reported": "The provider accepted it. Accepted is not yet delivered, and delivered is not yet read.",
    "evidence": "It counts as accepted because later evidence says so.",
    "ruled": "It counts as accepted because a person ruled so. Nothing else proves it.",
    "assumed": "It counts as accepted because its kind's policy assumes so. Nothing proves it.",
}

_SOURCES = {
    "late_report": "a worker's late report",
    "lookup": "a look-up",
    "receipt": "a receipt",
    "person": "a person",
}
_SAYS = {"accepted": "accepted", "not_accepted": "not accepted", "rejected": "refused", "unknown": "still unknown"}

_RECEIPTS = {
    "delivered": "it was delivered; delivered is not yet read",
    "bounced": "it came back",
    "complained": "its reader complained about it",
    "delayed": "it is delayed, and the provider goes on trying",
    "refused": "it was taken and then not sent",
}
_NEVER_ARRIVED = ("bounced", "refused")

_HINTS = {
    deciding.SUPPRESSED: "Why that address is written to no more: duebook suppressions list --channel {channel}",
    people.OPTED_OUT: "What they wish: duebook people show {recipient}",
    people.QUIET: "What they wish: duebook people show {recipient}",
}


def tell(story: Story, now: datetime, *, full: bool = False) -> list[str]:
    """Return the story as lines. `full`: with whole tracebacks and the messages on record."""
    identity, n = story.identity, story.notification
    lines = [f"{identity.kind}/{identity.key} to {identity.recipient}: {identity.state.value}"]
    if n is None:
        return [*lines, *_tombstone(story)]
    lines += ["", "What was promised", *_indented(_promise(n))]
    if about := list(subject(story, n)):
        lines += ["", "What it is about", *_indented(about)]
    lines += ["", "What happened", *_indented(_happened(story, n, now, full))]
    lines += ["", "Where it stands", *_indented([*_standing(n, now), *_ending(n)])]
    for title, part in (("What is at risk", _risk(story, n)), ("What is no longer on record", _discarded(story, n))):
        if said := list(part):
            lines += ["", title, *_indented(said)]
    if full and n.message:
        message = json.dumps(json.loads(n.message), indent=2, ensure_ascii=False)
        lines += ["", "The message", *_indented(message.splitlines())]
    return lines


def _indented(lines: Iterator[str] | list[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _promise(n: Notification) -> Iterator[str]:
    if n.wall and n.zone:
        wall = datetime.fromisoformat(n.wall)
        yield f"{wall:%A %Y-%m-%d %H:%M:%S} in {n.zone}, which is {instant(n.due_at)}."
        yield f"Rule for times that do not exist or happen twice: {n.rule}. Zone rules: tzdata {n.tzdata}."
    else:
        yield f"The instant {instant(n.due_at)}."
    yield f"Scheduled at {instant(n.created_at)}, over channel {n.channel}, class {Priority(n.priority).name.lower()}."
    if n.expires_at is not None:
        yield f"Worth nothing after {instant(n.expires_at)}."
    labels = [f"{name} {value}" for name, value in (("group", n.group), ("tenant", n.tenant)) if value]
    yield ", ".join([*labels, f"idempotency key {idempotency_key(n.namespace, n.kind, n.key)}"])


def _happened(story: Story, n: Notification, now: datetime, full: bool) -> Iterator[str]:
    events: list[tuple[datetime, int, list[str]]] = []
    for attempt, resolution in zip(story.attempts, story.resolutions, strict=True):
        events.append((attempt.begun_at, attempt.number, _attempt(attempt, resolution, n)))
    events += [(entry.at, entry.version, _entry(entry, full)) for entry in story.history]
    events += [(item.at, item.number, _evidence(item)) for item in story.evidence]
    events += [(one.at, number, _receipt(number, one)) for number, one in story.receipts]
    for at, _, lines in sorted(events, key=lambda event: event[:2]):
        yield f"{instant(at)}  {lines[0]}"
        yield from _indented(lines[1:])
    if n.state is State.SENDING and n.begun_at is not None:
        yield f"{instant(n.begun_at)}  attempt {n.number} over {n.channel} began and is on the wire (worker {n.holder})"
    elif not events:
        yield "Nothing yet." if n.state in (State.SCHEDULED, State.CLAIMED) else "The steps are no longer on record."


def _attempt(attempt: Attempt, resolution: str | None, n: Notification) -> list[str]:
    phase = f" in phase {attempt.phase}" if attempt.phase else ""
    took = f" after {span(attempt.ended_at - attempt.begun_at)}"
    lines = [f"attempt {attempt.number} over {attempt.channel}: {_OUTCOMES[attempt.outcome]}{phase}{took}"]
    if attempt.number == 1:
        late = attempt.begun_at - n.due_at
        lines.append(f"begun {span(late)} {'after' if late.total_seconds() >= 0 else 'before'} its promised instant")
    if attempt.provider_id:
        lines.append(f"the provider calls it {attempt.provider_id}")
    if attempt.reason:
        lines.append(f"reason: {first_line(attempt.reason)}")
    if resolution:
        lines.append(f"later evidence about it: {_SAYS[resolution]}")
    if attempt.message_hash:
        lines.append(f"what was sent has the SHA-256 {attempt.message_hash[:16]}…")
    lines.append(f"worker {attempt.holder}")
    return lines


def _entry(entry: Entry, full: bool) -> list[str]:
    said = _EVENTS.get(entry.event, entry.event)
    if not entry.reason:
        return [f"{said} (by {entry.by})"]
    if entry.event == Event.DEFER and entry.reason.startswith(deciding.MOVED):
        return [f"{first_line(entry.reason)} (by {entry.by})"]
    first = f"{said}: {first_line(entry.reason)} (by {entry.by})"
    return [first, *entry.reason.splitlines()] if full and "\n" in entry.reason else [first]


def _evidence(item: Evidence) -> list[str]:
    lines = [f"{_SOURCES[item.source]} about attempt {item.number}: {_SAYS[item.says]}"]
    if item.provider_id:
        lines.append(f"the provider calls it {item.provider_id}")
    if item.detail:
        lines.append(first_line(item.detail))
    return lines


def _receipt(number: int, one: Receipt) -> list[str]:
    for_good = " for good: the address takes no mail" if one.event == "bounced" and one.permanent else ""
    lines = [f"{one.provider} says about attempt {number}: {_RECEIPTS[one.event]}{for_good}"]
    if one.address:
        lines.append(f"it is about {one.address}")
    if one.detail:
        lines.append(first_line(one.detail))
    return lines


def _standing(n: Notification, now: datetime) -> Iterator[str]:
    match n.state:
        case State.SCHEDULED:
            yield from _waiting(n, now)
        case State.CLAIMED:
            yield f"Worker {n.holder} holds it and asks its handler. Its owner may still cancel it."
        case State.SENDING:
            yield f"Attempt {n.number} is on the wire. It is too late to cancel it."
            if n.lease_until is not None and n.lease_until < now:
                yield f"Its worker has said nothing since; its lease ended {ahead(n.lease_until, now)}."
        case State.UNCERTAIN:
            yield f"Uncertain since {instant(n.moved_at)}: {_reason(n)}"
            if n.wanted is not None:
                yield f"It would be {n.wanted.value}, were it not for that doubt; so it is not repeated."
            yield f"Rule on it: duebook resolve {n.kind} {n.key} --as sent|resend|drop --reason …"
        case State.REVIEW:
            yield f"In review since {instant(n.moved_at)}: {_reason(n)}"
            yield f"Nothing of it was accepted. duebook redrive {n.kind} {n.key} --reason …, or: duebook drop …"
            if ownership.is_refused(n):
                yield "As it is it would be refused again: give new --data, change its recipient's record, or --force."
        case State.ACCEPTED:
            yield _BASES[n.basis or "reported"]
            if n.reason:
                yield f"Reason: {first_line(n.reason)}"
        case State.SKIPPED | State.CANCELLED | State.DROPPED:
            yield f"Closed as {n.state.value}: {_reason(n)}"
            yield from _hints(n)


def _reason(n: Notification) -> str:
    return first_line(n.reason or "no reason on record")


def _hints(n: Notification) -> Iterator[str]:
    """Say where to look further."""
    for beginning, hint in _HINTS.items():
        if n.reason is not None and n.reason.startswith(beginning):
            yield hint.format(channel=n.channel, recipient=n.recipient)


def _ending(n: Notification) -> Iterator[str]:
    if n.closed_at is not None:
        yield f"Closed at {instant(n.closed_at)}."
    if n.cancel_request is not None and n.state is not State.CANCELLED:
        yield f"Its owner asked to cancel it when it was too late: {first_line(n.cancel_request)}"
        if n.closed_at is None:
            yield "If it comes back to be sent again, it ends cancelled."


def _waiting(n: Notification, now: datetime) -> Iterator[str]:
    assert n.wake_at is not None
    if n.wake_at > now:
        yield f"It waits until {instant(n.wake_at)}, {ahead(n.wake_at, now)}."
    else:
        yield f"It has been due for {span(now - n.wake_at)} and no worker has taken it. Is one running? duebook status"
    if n.reason is not None:
        yield f"Why: {first_line(n.reason)}"
        yield from _hints(n)
    if n.alone:
        yield "A worker died holding it, so it is next claimed by itself."


def _risk(story: Story, n: Notification) -> Iterator[str]:
    """Say what could be wrong for the recipient: a message missing, or a second copy."""
    open_attempts = [attempt.number for attempt in story.doubtful]
    sure = sum(
        attempt.outcome == "accepted" or resolution == "accepted"
        for attempt, resolution in zip(story.attempts, story.resolutions, strict=True)
    )
    if open_attempts:
        numbers = " and ".join(map(str, open_attempts))
        what = "attempts" if len(open_attempts) > 1 else "attempt"
        yield f"Nobody knows whether {what} {numbers} reached {n.recipient}."
    if sure + len(open_attempts) > 1:
        at_least = f"at least {sure}" if sure else "none"
        yield f"{n.recipient} may have up to {sure + len(open_attempts)} copies; {at_least} for certain."
    for number, one in story.receipts:
        if one.event in _NEVER_ARRIVED:
            yield f"Attempt {number} did not arrive, says {one.provider}."
    if n.state is State.UNCERTAIN:
        yield "If it is sent again and did arrive, a second copy arrives, unless the provider recognises the key."
        yield "If it is left as sent or dropped and did not arrive, nobody is told."
    elif open_attempts and not sure and n.closed_at is not None:
        yield "It may never have arrived."


def _discarded(story: Story, n: Notification) -> Iterator[str]:
    if story.pruned >= 1:
        yield "The rendered message and the application's data: retention discarded them."
    if story.pruned >= 2:
        yield "The attempts, the other steps and the evidence: retention discarded them too."
    if n.recipient.startswith(FORGOTTEN):
        yield "Who it was for, its data and its reasons: erased, because the recipient was forgotten on request."


def _tombstone(story: Story) -> Iterator[str]:
    """Tell what is left of an identity whose notification is gone."""
    identity = story.identity
    yield ""
    yield "What is still known"
    yield f"{INDENT}Promised for {instant(identity.due_at)}, scheduled at {instant(identity.created_at)}."
    if identity.closed_at is not None:
        yield f"{INDENT}Closed as {identity.state.value} at {instant(identity.closed_at)}."
    if identity.reason:
        yield f"{INDENT}Reason: {first_line(identity.reason)}"
    if identity.provider_id:
        yield f"{INDENT}The provider calls it {identity.provider_id}."
    yield ""
    yield "What is no longer on record"
    yield f"{INDENT}The notification with its message, attempts and steps: retention discarded them."
    if identity.recipient.startswith(FORGOTTEN):
        yield f"{INDENT}Who it was for: erased, because the recipient was forgotten on request."
    yield f"{INDENT}The identity itself stays, so that nothing is ever sent twice under this key."
