"""The agents of a worker, put to work by hand: everything that is due at one instant, and when the next one is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ..domain.lifecycle import State
from ..domain.story import Sight
from ..engine.agent import Agent
from ..engine.claiming import Held
from ..engine.lane import Lane, Pen
from ..ports import Channel
from ..wiring import Wired
from .tasks import SerialTasks

MOMENT = timedelta(microseconds=1)
BY = "timeline"
AT_HOME = frozenset({"pruner", "matcher"})
PASSES = 1_000
ROUNDS = 50_000
PAGE = 1_000
_NO_FILTERS: dict[str, str | None] = {"kind": None, "channel": None, "tenant": None}
LATEST_RETRY = 1.0
"""The draw for jitter: a retry waits as long as its backoff ever does."""


class Crew:
    """Rescuer, sweeper, reconciler and a lane for each channel, as the composition root makes them. The lanes are new
    each time, so nothing they believe is stale. Some agents stay at home."""

    def __init__(self, wired: Wired, message_domain: str, *, bounded: bool, looked: set[tuple[int, int]]) -> None:
        self._wired = wired
        self._domain = message_domain
        self._bounded = bounded
        # On the class, because a book on a timeline has an idle worker in the place of this method.
        worker = Wired.worker(wired, [], message_domain, 0.0)
        self._agents: Sequence[Agent] = [agent for agent in worker.agents if agent.name not in AT_HOME]
        for agent in self._agents:
            if hasattr(agent, "by"):
                agent.by = BY  # so that a story reads the same every time
        self._lookout = worker.lookout
        self._looked = looked
        self._kinds = wired.registry.served()
        self._channels = wired.registry.channels

    async def run(self) -> None:
        """Do everything that is due now, and whatever follows from it at once."""
        for _ in range(PASSES):
            sight = await self._look()
            if await self._keep_house():
                sight = await self._look()
            served = [await self._serve(self._channels[name]) for name in _wanted(sight, self._wired.clock.now())]
            if not any(served):
                return
        raise self._endless()

    async def upcoming(self) -> datetime | None:
        """Return the next instant at which there may be something to do, if there is one."""
        now = self._wired.clock.now()
        store, ask = self._wired.store, self._wired.database.ask
        sight = await self._look()
        found = [await ask(store.peek(name, self._kinds, now + MOMENT)) for name in self._channels]
        found += [control.paused_until for control in await ask(store.read_controls())]
        found += [sight.expiry, sight.schedule, sight.digest]
        if sight.lease is not None:
            found.append(sight.lease + timedelta(seconds=self._wired.settings.grace_seconds) + MOMENT)
        if sight.attention is not None:
            found += [n.attention_at for n in await self._uncertain()]
        return min((at for at in found if at is not None and at > now), default=None)

    async def _look(self) -> Sight:
        plan = self._wired.store.look(self._channels, self._kinds)
        self._lookout.sight = await self._wired.database.ask(plan)
        return self._lookout.sight

    async def _keep_house(self) -> bool:
        wanted = [agent for agent in self._agents if self._lookout.wanted(agent.name)]
        for agent in wanted:
            if agent.name == "reconciler":
                now = self._wired.clock.now()
                self._looked |= {(n.id, n.version) for n in await self._uncertain() if n.attention_at <= now}
            while await agent.step():
                pass
        return bool(wanted)

    async def _uncertain(self) -> list[Any]:
        """Return the uncertain notifications that the reconciler has not seen as they are.

        It looks again every hour; without new evidence that changes nothing, and would cost a year thousands of steps.
        """
        found: list[Any] = []
        before = 2**62
        while True:
            plan = self._wired.store.search({**_NO_FILTERS, "state": State.UNCERTAIN}, before, PAGE)
            page = await self._wired.database.ask(plan)
            found += [n for n in page if (n.id, n.version) not in self._looked]
            if len(page) < PAGE:
                return found
            before = page[-1].id

    async def _serve(self, channel: Channel) -> bool:
        """Let a lane work until it has nothing to do at this instant; says whether there was anything."""
        w, tasks = self._wired, SerialTasks(bounded=self._bounded)
        lane = Lane(
            channel, w.registry, w.database, w.store, w.clock, tasks, lambda: LATEST_RETRY, w.settings, BY, self._domain
        )
        claimed = False
        try:
            for _ in range(ROUNDS):
                ended = await tasks.wait(0.0)
                claimed = claimed or any(item.ticket is Pen.CLAIM and item.result for item in ended)
                _forget(lane, tasks)
                lane.round(ended)
                if lane.finished and not lane.claimer.appetite.due(w.clock.monotonic()):
                    return claimed
        finally:
            tasks.abandon()
        raise self._endless()

    def _endless(self) -> RuntimeError:
        return RuntimeError(
            f"what is due at {self._wired.clock.now()} does not come to an end: does a handler schedule another one "
            "for the same moment each time, or move a message to and fro between two channels?"
        )


def _forget(lane: Lane, tasks: SerialTasks) -> None:
    """Have a lane know nothing more of what a crash took; on record it stays under its lease, as if another had it."""
    for ticket in tasks.lost:
        if isinstance(ticket, Held):
            lane.held.pop(ticket.n.id, None)
        else:
            lane.flying.pop(ticket.id, None)
    tasks.lost.clear()


def _wanted(sight: Sight, now: datetime) -> list[str]:
    """Return the channels that have something due."""
    suspects = sight.suspects
    return [
        name
        for name, wake_at in sight.wakes.items()
        if any(at is not None and at <= now for at in (wake_at, suspects[name]))
    ]
