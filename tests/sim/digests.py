"""A world of digests: two recipients, an hourly digest of two items, hours that pass at once, and what must hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Literal

from duebook.domain.decision import Due
from duebook.domain.message import Email
from duebook.domain.policy import DigestPolicy, Kind, OnUncertain
from duebook.domain.retry import Backoff
from duebook.engine.agent import Agent
from duebook.engine.registry import Registry
from duebook.features.digests import DigestRoom
from duebook.features.work import Work
from duebook.ports import Handler
from tests.sim.crowd import SETTINGS, Parts
from tests.sim.gathering import Gathering, complain
from tests.sim.kernel import Point, Process
from tests.sim.ports import START, SimClock, SimDatabase

RECIPIENTS = ("ann", "ben")
LIMIT = 2
HOUR_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class Config:
    window: float | None = None
    on_uncertain: OnUncertain = "hold"
    unsent: Literal["carry", "undelivered"] = "carry"
    catch_up: Literal["combine", "latest", "skip"] = "combine"


class Digests(Gathering):
    deeds = ("add", "add", "add", "add", "hour", "hour", "redrive", "drop it", "cancel", "sent", "resend", "drop")
    pause_seconds = (0.1, 1.5)
    safety_steps = 800

    def __init__(self, seed: int, config: Config, parts: Parts) -> None:
        self.added: set[tuple[str, str]] = set()
        self.tried = 0
        self.frozen: dict[int, tuple[int, int]] = {}
        policy = DigestPolicy(limit=LIMIT, expire_after=None, unsent=config.unsent, catch_up=config.catch_up)
        kind = Kind(
            "news", "mail", on_uncertain=config.on_uncertain, handler_seconds=60.0,
            retry=Backoff(attempts=4, ceiling=timedelta(seconds=8)), digest=policy,
        )  # fmt: skip
        super().__init__(seed, kind, parts, config.window)

    def agents(self, registry: Registry, database: SimDatabase, clock: SimClock, holder: str) -> list[Agent]:
        digester = self.parts.digester(registry, database, self.store, clock, SETTINGS, {})
        digester.pace_seconds = 2.0
        return [*super().agents(registry, database, clock, holder), digester]

    def handler(self, process: Process, kind: Kind) -> Handler:
        async def handler(due: Due) -> Email:
            await Point("handler")
            assert due.digest is not None
            said = json.dumps([[one.item for one in due.digest.items], due.digest.total, due.digest.label])
            return Email(to=f"{due.recipient}@example.net", subject=due.key, text=said)

        return handler

    def do(self, deed: str, draw: Random) -> Work[Any] | None:
        if deed == "hour":
            self.kernel.elapsed += HOUR_SECONDS / 2
            return None
        self.tried += 1
        recipient, item = draw.choice(RECIPIENTS), f"i{self.tried}"
        at = self.context.clock.now() + timedelta(minutes=draw.choice((-90, -5, 0, 0, 0, 40)))
        work = DigestRoom(self.context).add("news", recipient, item, ready_at=at, score=draw.randrange(3))

        def plan(wakes: Any) -> Any:
            answer = yield from work.plan(wakes)
            self.added.add((recipient, item))
            return answer

        return Work(plan)

    def bodies(self) -> dict[str, list[tuple[list[str], int, str]]]:
        """By key, what each copy that the provider has told: the items, how many were eligible, and the period."""
        told = {key: [json.loads(json.loads(body)["text"]) for body in bodies] for key, bodies in self.taken().items()}
        return {key: [(items, total, label) for items, total, label in bodies] for key, bodies in told.items()}

    def look(self) -> None:
        for oracle in ALWAYS:
            oracle(self)

    def rests(self) -> None:
        for oracle in AT_REST:
            oracle(self)


# What must never be


def an_item_is_told_by_one_digest(world: Digests) -> None:
    """Of what the provider took, whatever the ledger says of it."""
    by: dict[str, set[str]] = {}
    for key, bodies in world.bodies().items():
        for items, _, _ in bodies:
            for item in items:
                by.setdefault(item, set()).add(key)
    for item, keys in by.items():
        if len(keys) > 1:
            complain(an_item_is_told_by_one_digest, f"{item} was told by {sorted(keys)}")


def a_digest_always_tells_the_same(world: Digests) -> None:
    for name, sent in world.provider.bodies.items():
        if len({json.loads(body)["text"] for _, body in sent}) > 1:
            complain(a_digest_always_tells_the_same, f"{name} told {sent}")


def what_it_tells_and_what_it_leaves_out_are_all(world: Digests) -> None:
    """Counted anew in the moment in which it is there for the first time."""
    query = "select notification_id, recipient, label, cutoff_at, total, selected, outcome from duebook_digests"
    for id, recipient, label, cutoff_at, total, selected, outcome in world.ask(query):
        if id in world.frozen:
            if world.frozen[id] != (total, selected):
                complain(what_it_tells_and_what_it_leaves_out_are_all, f"{label} held {world.frozen[id]} before")
            continue
        mine = f"select count(*) from duebook_digest_items where recipient = '{recipient}' and ready_at < '{cutoff_at}'"
        ((inside,),) = world.ask(f"{mine} and label = '{label}'")
        ((left,),) = world.ask(f"{mine} and label is null and outcome is null")
        if outcome is None and (inside, inside + left) != (selected, total):
            complain(what_it_tells_and_what_it_leaves_out_are_all, f"{label}: {selected} of {total}, {inside} + {left}")
        world.frozen[id] = (total, selected)


def no_digest_is_too_long(world: Digests) -> None:
    for key, bodies in world.bodies().items():
        for items, _, _ in bodies:
            if not 0 < len(items) <= LIMIT:
                complain(no_digest_is_too_long, f"{key} told {len(items)}")


def a_period_has_one_digest(world: Digests) -> None:
    query = "select recipient, cutoff_at, count(*) from duebook_digests group by 1, 2 having count(*) > 1"
    for recipient, cutoff_at, number in world.ask(query):
        complain(a_period_has_one_digest, f"{recipient} has {number} digests until {cutoff_at}")
    now = START + timedelta(seconds=world.kernel.elapsed + 60)
    for (cutoff_at,) in world.ask("select max(cutoff_at) from duebook_digests having max(cutoff_at) is not null"):
        if datetime.fromisoformat(cutoff_at) > now:
            complain(a_period_has_one_digest, f"the one until {cutoff_at} is closed already")


ALWAYS = (
    an_item_is_told_by_one_digest, a_digest_always_tells_the_same, what_it_tells_and_what_it_leaves_out_are_all,
    no_digest_is_too_long, a_period_has_one_digest,
)  # fmt: skip


# What must not be left


def everything_rests(world: Digests) -> None:
    for key, state in world.ask("select key, state from duebook_notifications"):
        if state in ("scheduled", "claimed", "sending"):
            complain(everything_rests, f"{key} is still {state}")


def every_item_is_accounted_for(world: Digests) -> None:
    """Delivered, in a digest that waits for a person, on record with why not, or sure to be in the next one."""
    query = """
        select i.recipient, i.item, i.ready_at, i.label, i.outcome, n.state, d.outcome, c.open_from, c.next_close_at
        from duebook_digest_items i
        left join duebook_digests d on d.recipient = i.recipient and d.label = i.label
        left join duebook_notifications n on n.id = d.notification_id
        left join duebook_digest_cursors c on c.recipient = i.recipient"""
    found = set()
    for recipient, item, ready_at, label, outcome, state, ended, open_from, next_close_at in world.ask(query):
        found.add((recipient, item))
        if outcome is not None:
            continue
        if label is None and not (open_from is not None and open_from <= ready_at and next_close_at is not None):
            complain(every_item_is_accounted_for, f"{item} waits, and nobody will look for it")
        if label is not None and (state not in ("accepted", "uncertain", "review") or ended is not None):
            complain(every_item_is_accounted_for, f"{item} is in a digest that is {state} and {ended}")
    if world.added - found:
        complain(every_item_is_accounted_for, f"{sorted(world.added - found)} were added and are gone")


AT_REST = (everything_rests, every_item_is_accounted_for)
