"""A world of unread messages: one conversation, three who write and two who read, and what must hold for them."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, NamedTuple

from duebook.domain.decision import Due
from duebook.domain.message import Email
from duebook.domain.policy import Kind, OnUncertain, UnreadPolicy
from duebook.domain.retry import Backoff
from duebook.features.unread import UnreadRoom
from duebook.features.work import Work
from duebook.ports import Handler
from tests.sim.crowd import Parts
from tests.sim.gathering import Gathering, complain
from tests.sim.kernel import Point, Process

READERS = ("ann", "ben")
WRITERS = ("ann", "ben", "cid", "cid", "cid")
ROOM = ("chat", "room")
A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Config:
    """`withdraws`: whether reading withdraws what is pending; without it only the look before sending is left."""

    window: float | None = None
    on_uncertain: OnUncertain = "hold"
    withdraws: bool = True


class Spoken(NamedTuple):
    """What a reminder speaks for, as it is on record: the last `fresh` of the messages after `after` and up to `to`."""

    key: str
    recipient: str
    state: str
    after: int
    to: int
    total: int
    fresh: int


class Unread(Gathering):
    deeds = (
        "post", "post", "post", "burst", "read", "read", "read all", "delete", "redrive", "redrive", "drop it",
        "sent", "resend", "drop",
    )  # fmt: skip

    def __init__(self, seed: int, config: Config, parts: Parts) -> None:
        self.config = config
        self.posted = 0
        self.begun: set[tuple[int, int]] = set()
        self.read_to: dict[str, int] = {}
        kind = Kind(
            "chat", "mail", on_uncertain=config.on_uncertain, handler_seconds=60.0,
            retry=Backoff(attempts=4, ceiling=timedelta(seconds=8)), unread=UnreadPolicy(after=timedelta(seconds=2)),
        )  # fmt: skip
        super().__init__(seed, kind, parts, config.window)
        if not config.withdraws:
            for trigger in ("duebook_read", "duebook_first_read"):
                self.connection.execute(f"drop trigger {trigger}")

    def handler(self, process: Process, kind: Kind) -> Handler:
        async def handler(due: Due) -> Email:
            await Point("handler")
            assert due.unread is not None
            said = json.dumps([due.unread.total, due.unread.new])
            return Email(to=f"{due.recipient}@example.net", subject=due.key, text=said)

        return handler

    def do(self, deed: str, draw: Random) -> Work[Any] | None:
        room, who = UnreadRoom(self.context), draw.choice(READERS)
        match deed:
            case "post":
                return self._post(room, draw.choice(WRITERS))
            case "burst":
                return _several([self._post(room, "cid") for _ in range(4)])
            case "read":
                return room.mark_read(*ROOM, who, up_to=draw.randint(1, self.posted)) if self.posted else None
            case "read all":
                return room.mark_read(*ROOM, who)
        return room.deleted(*ROOM, f"m{draw.randint(1, max(1, self.posted))}")

    def _post(self, room: UnreadRoom, author: str) -> Work[Any]:
        self.posted += 1
        return room.posted(*ROOM, f"m{self.posted}", author=author, recipients=READERS)

    def spoken(self) -> list[Spoken]:
        query = """
            select n.key, n.recipient, n.state, c.after_position, c.to_position, c.total, c.fresh
            from duebook_covers c join duebook_notifications n on n.id = c.notification_id order by n.id"""
        return [Spoken(*row) for row in self.ask(query)]

    def by_others(self, recipient: str) -> list[int]:
        """The positions of the messages that somebody else has written."""
        query = f"select position from duebook_messages where author <> '{recipient}' order by position"
        return [position for (position,) in self.ask(query)]

    def look(self) -> None:
        for oracle in ALWAYS:
            oracle(self)

    def rests(self) -> None:
        for oracle in AT_REST:
            oracle(self)


def _several(works: list[Work[Any]]) -> Work[Any]:
    def plan(wakes: Any) -> Any:
        for work in works:
            yield from work.plan(wakes)

    return Work(plan)


# What must never be


def nothing_read_is_begun(world: Unread) -> None:
    query = """
        select n.id, n.number, n.key, n.data ->> 'position', coalesce(w.up_to, 0)
        from duebook_notifications n
        left join duebook_watermarks w on w.conversation = 'room' and w.recipient = n.recipient
        where n.state = 'sending'"""
    for id, number, key, position, up_to in world.ask(query):
        if (id, number) not in world.begun and up_to >= position:
            complain(nothing_read_is_begun, f"{key} is about {position}, and began when {up_to} was read")
        world.begun.add((id, number))


def no_message_is_new_twice(world: Unread) -> None:
    """Of what the provider took, whatever the ledger says of it."""
    taken = world.taken()
    for recipient in READERS:
        written = world.by_others(recipient)
        new: Counter[int] = Counter()
        for one in world.spoken():
            if one.recipient == recipient and one.key in taken and one.fresh:
                new.update([position for position in written if position <= one.to][-one.fresh :])
        twice = [position for position, times in new.items() if times > 1]
        if twice:
            complain(no_message_is_new_twice, f"{recipient} was told of {sorted(twice)} as new more than once")


def a_mail_says_what_is_on_record(world: Unread) -> None:
    said = {one.key: [one.total, one.fresh] for one in world.spoken()}
    for key, bodies in world.taken().items():
        for body in bodies:
            if json.loads(json.loads(body)["text"]) != said[key]:
                complain(a_mail_says_what_is_on_record, f"{key} said {body}, and {said[key]} is on record")


def nobody_is_covered_by_what_was_not_accepted(world: Unread) -> None:
    accepted = {one.key: one.to for one in world.spoken() if one.state == "accepted"}
    query = "select key, data ->> 'position', reason from duebook_notifications where state = 'skipped'"
    for key, position, reason in world.ask(query):
        if (found := re.fullmatch(r"covered by (.+)", reason)) and accepted.get(found[1], 0) < position:
            complain(nobody_is_covered_by_what_was_not_accepted, f"{key} is {reason}, which did not tell it")


def a_watermark_never_moves_back(world: Unread) -> None:
    query = "select recipient, up_to from duebook_watermarks"
    for recipient, up_to in world.ask(query):
        if up_to < world.read_to.get(recipient, 0):
            complain(
                a_watermark_never_moves_back, f"{recipient} had read up to {world.read_to[recipient]}, not {up_to}"
            )
        world.read_to[recipient] = up_to


ALWAYS = (
    nothing_read_is_begun, no_message_is_new_twice, a_mail_says_what_is_on_record,
    nobody_is_covered_by_what_was_not_accepted, a_watermark_never_moves_back,
)  # fmt: skip


# What must not be left


def everything_rests(world: Unread) -> None:
    """Each reminder has ended or waits for a person, or for one that does."""
    doubtful = {
        (recipient, to)
        for recipient, to in world.ask("""
            select n.recipient, c.to_position from duebook_covers c
            join duebook_notifications n on n.id = c.notification_id where n.state = 'uncertain'""")
    }
    query = """
        select key, recipient, data ->> 'position', state from duebook_notifications
        where state in ('scheduled', 'claimed', 'sending')"""
    for key, recipient, position, state in world.ask(query):
        if state == "sending" or not any(one == recipient and position <= to for one, to in doubtful):
            complain(everything_rests, f"{key} is still {state}")


def every_message_is_accounted_for(world: Unread) -> None:
    """Read, deleted, told by an accepted reminder, or its own is on record with why not."""
    for recipient in READERS:
        told = [one for one in world.spoken() if one.recipient == recipient and one.state == "accepted"]
        query = f"""
            select m.position, coalesce(w.up_to, 0), n.state, n.reason
            from duebook_messages m
            left join duebook_watermarks w on w.conversation = 'room' and w.recipient = '{recipient}'
            left join duebook_notifications n on n.recipient = '{recipient}' and n.data ->> 'position' = m.position
            where m.author <> '{recipient}' and m.deleted_at is null"""
        for position, up_to, state, reason in world.ask(query):
            if position <= up_to or any(one.after < position <= one.to for one in told):
                continue
            waits = state in ("review", "uncertain", "scheduled", "claimed") or (state == "dropped" and reason)
            if not waits:
                complain(every_message_is_accounted_for, f"{recipient} never heard of {position}: {state}, {reason}")


AT_REST = (everything_rests, every_message_is_accounted_for)
