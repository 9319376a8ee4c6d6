"""Unread messages: reminded of after a while, unless they are read first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..domain import unread
from ..domain.draft import Draft
from ..domain.policy import Kind, UnreadPolicy
from ..domain.text import NAME_CHARACTERS, RECIPIENT_CHARACTERS, checked
from ..domain.unread import About, ReadUpTo, Seen
from ..domain.walltime import Promise
from ..errors import InvalidInput
from ..ports import Plan
from .context import Context
from .digests import Item, new_item
from .work import Wakes, Work

CONVERSATION_CHARACTERS = 100
MESSAGE_CHARACTERS = 100
FARTHEST_POSITION = 2**62
READ = "read"
WROTE = "its recipient has written there since"


@dataclass(frozen=True, slots=True)
class Posted:
    """What became of a message. `created`: it is new. `position`: its place in the conversation. `reminders`: for how
    many recipients a reminder is scheduled."""

    created: bool
    position: int | None
    reminders: int


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What became of a reading. `moved`: the watermark has moved, to `up_to`."""

    moved: bool
    up_to: int | None


@dataclass(frozen=True, slots=True)
class UnreadState:
    """How a conversation stands for one recipient. `up_to`: how far they have read. `covered_to`: how far reminders
    have told them of it. `total`, `new`: how many messages are unread, and how many no reminder has named."""

    up_to: int
    covered_to: int
    total: int
    new: int


class UnreadRoom:
    """Each method returns Work; app/twins.py makes a method that is awaited of it, and one that is not."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def posted(
        self,
        kind: str,
        conversation: str,
        message: str,
        *,
        author: str,
        recipients: Iterable[str] | Mapping[str, str],
        position: int | None = None,
        tenant: str | None = None,
    ) -> Work[Posted]:
        """Say that a message was posted: each recipient but the author is reminded of it, unless they read it in time.

        `recipients`: a mapping tells each one's class, where the kind's delay depends on it. A message that is known
        already, such as an edited one, schedules nothing. Who writes has read what came before. `position`: the
        message's place, from an application that counts them itself. Raises InvalidInput; then nothing is stored.
        """
        known, policy = self._known(kind)
        _checked_place(conversation, message)
        checked("author", author, RECIPIENT_CHARACTERS)
        classes = dict(recipients) if isinstance(recipients, Mapping) else dict.fromkeys(_listed(recipients))
        delays = {
            checked("recipients", one, RECIPIENT_CHARACTERS): policy.delay(one, of_class)
            for one, of_class in classes.items()
            if one != author
        }
        _checked_position("position", position)
        if tenant is not None:
            checked("tenant", tenant, NAME_CHARACTERS)

        def plan(wakes: Wakes) -> Plan[Posted]:
            now, store = self.context.clock.now(), self.context.store
            place = yield from store.post_message(known.name, conversation, message, author, position, now)
            if place is None:
                return Posted(False, None, 0)
            wrote = ReadUpTo(known.name, conversation, author, position=place)
            yield from self._read(wrote, WROTE, now)
            drafts = [
                self._draft(known, conversation, message, place, recipient, now, now + delay, tenant)
                for recipient, delay in sorted(delays.items())
            ]
            created = (yield from store.schedule(drafts)) if drafts else {}
            yield from self._gather(known, conversation, message, place, delays, tenant, now)
            for draft in drafts:
                wakes.note(draft.channel, draft.wake_at, now)
            return Posted(True, place, len(created))

        return Work(plan)

    def mark_read(
        self, kind: str, conversation: str, recipient: str, *, up_to: str | int | None = None
    ) -> Work[ReadAnswer]:
        """Say that somebody has read a conversation up to a message (its name or its position), or all of it.

        What is pending about it up to there is withdrawn; the watermark never moves back. One statement.
        """
        known, _ = self._known(kind)
        checked("conversation", conversation, CONVERSATION_CHARACTERS)
        checked("recipient", recipient, RECIPIENT_CHARACTERS)
        message, position = (up_to, None) if isinstance(up_to, str) else (None, up_to)
        if message is not None:
            checked("up_to", message, MESSAGE_CHARACTERS)
        _checked_position("up_to", position)
        reading = ReadUpTo(known.name, conversation, recipient, message, position)

        def plan(wakes: Wakes) -> Plan[ReadAnswer]:
            moved = yield from self._read(reading, READ, self.context.clock.now())
            return ReadAnswer(moved is not None, moved)

        return Work(plan)

    def deleted(self, kind: str, conversation: str, message: str) -> Work[bool]:
        """Say that a message was deleted: it counts as unread for nobody, and nobody is reminded because of it. Answers
        whether it was known."""
        known, _ = self._known(kind)
        _checked_place(conversation, message)
        return Work(
            lambda wakes: self.context.store.delete_message(known.name, conversation, message, self.context.clock.now())
        )

    def state(self, kind: str, conversation: str, recipient: str) -> Work[UnreadState]:
        """Return how a conversation stands for one recipient, by the built-in tables."""
        known, _ = self._known(kind)
        about = About(0, known.name, conversation, recipient, 0, "")

        def plan(wakes: Wakes) -> Plan[UnreadState]:
            seen: Seen = (yield from self.context.store.read_unread([about]))[0]
            return UnreadState(seen.up_to, seen.named_to, seen.total, seen.fresh)

        return Work(plan, atomic=False)

    def _gather(
        self,
        kind: Kind,
        conversation: str,
        message: str,
        position: int,
        recipients: Iterable[str],
        tenant: str | None,
        now: datetime,
    ) -> Plan[None]:
        """Put the message into the digests of what is unread, of the kinds that gather them."""
        carried = {
            "unread_of": kind.name, "conversation": conversation, "message": message, "position": position
        }  # fmt: skip
        items = [
            new_item(
                Item(
                    kind=other.name, recipient=recipient, item=unread.name(conversation, message), data=carried,
                    tenant=tenant,
                ),
                self.context,
                now,
            )
            for other in self.context.kinds.values()
            if other.digest is not None and other.digest.unread_of == kind.name
            for recipient in recipients
        ]  # fmt: skip
        if items:
            yield from self.context.store.add_items(items)

    def _read(self, reading: ReadUpTo, reason: str, now: datetime) -> Plan[int | None]:
        group = unread.group(reading.kind, reading.conversation, reading.recipient)
        return (yield from self.context.store.mark_read(reading, group, reason, self.context.by, now))

    def _draft(
        self,
        kind: Kind,
        conversation: str,
        message: str,
        position: int,
        recipient: str,
        now: datetime,
        due_at: datetime,
        tenant: str | None,
    ) -> Draft:
        return Draft(
            kind=kind.name,
            key=unread.key(conversation, message, recipient),
            recipient=recipient,
            tenant=tenant,
            namespace=self.context.namespace,
            channel=kind.channel,
            priority=kind.priority,
            group=unread.group(kind.name, conversation, recipient),
            data=unread.data(conversation, message, position),
            promise=Promise(due_at),
            expires_at=due_at + kind.max_lateness if kind.max_lateness is not None else None,
            wake_at=due_at,
            created_at=now,
        )

    def _known(self, name: str) -> tuple[Kind, UnreadPolicy]:
        kind = self.context.kind(name)
        if kind.unread is None:
            problem = f"{name!r} reminds of nothing unread; give it unread=UnreadPolicy(after=timedelta(minutes=15))"
            raise InvalidInput("kind", problem)
        return kind, kind.unread


def _listed(recipients: Iterable[str]) -> Sequence[str]:
    if isinstance(recipients, str):
        raise InvalidInput("recipients", f"is the one text {recipients!r}; give a list, such as [{recipients!r}]")
    return list(recipients)


def _checked_place(conversation: str, message: str) -> None:
    checked("conversation", conversation, CONVERSATION_CHARACTERS)
    checked("message", message, MESSAGE_CHARACTERS)


def _checked_position(field: str, position: int | None) -> None:
    if position is not None and (type(position) is not int or not 1 <= position <= FARTHEST_POSITION):
        raise InvalidInput(field, f"must be a whole number from 1, not {position!r}")
