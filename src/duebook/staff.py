"""The staff of a worker: a lane for each channel, the housekeeping agents, and those between store and broker."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import socket
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from .domain.policy import Priority
from .engine.acknowledger import Acknowledger, acknowledger_name
from .engine.agent import Agent
from .engine.digester import Digester
from .engine.inbox import Inbox
from .engine.lane import Lane
from .engine.lookout import Lookout
from .engine.matcher import Matcher
from .engine.pruner import Pruner
from .engine.receiver import Receiver, receiver_name
from .engine.reconciler import Reconciler
from .engine.rescuer import Rescuer
from .engine.scheduler import Scheduler
from .engine.sweeper import Sweeper
from .errors import QueueUnavailable
from .features.receipts import match
from .ports import Channel
from .worker import AsyncTasks, Worker, log

if TYPE_CHECKING:
    from .wiring import Wired

Expect = Callable[[float, bool], None]


class Staff:
    """Everybody in one worker. `only`: the channels it serves, or None for all."""

    def __init__(self, wired: Wired, only: list[str] | None, message_domain: str) -> None:
        self.wired = wired
        self.message_domain = message_domain
        self.by = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        self.lanes: list[tuple[Lane, AsyncTasks]] = []
        self.inboxes: list[Inbox] = []
        self.expect: dict[str, Expect] = {}
        for name, channel in wired.registry.channels.items():
            if only is None or name in only:
                self._open_lane(channel)

    def worker(self, stop_seconds: float) -> Worker:
        wired = self.wired
        lookout = Lookout(
            wired.registry, wired.database, wired.store, wired.clock, wired.settings, self.expect, wired.refresh
        )
        agents = [*self._housekeeping(), *self._brokered()]
        listen = self._listen if wired.listen is not None else None
        worker = Worker(self.lanes, lookout, agents, self._prepare, listen, self._leave, stop_seconds)
        for inbox in self.inboxes:
            inbox.relieved = lambda queue: worker.rouse(receiver_name(queue))
            inbox.has_news = partial(worker.rouse, acknowledger_name(inbox.channel))
        return worker

    def _open_lane(self, channel: Channel) -> None:
        wired, policy, inbox = self.wired, channel.policy, None
        if wired.queue is not None:
            inbox = Inbox(policy, wired.queue, wired.settings)
            self.inboxes.append(inbox)
        tasks = AsyncTasks()
        lane = Lane(
            channel, wired.registry, wired.database, wired.store, wired.clock, tasks, random.random, wired.settings,
            self.by, self.message_domain, inbox,
        )  # fmt: skip
        lane.writer.passed_on = self._heard
        self.lanes.append((lane, tasks))
        self.expect[policy.name] = partial(_expect, lane, tasks)

    def _housekeeping(self) -> list[Agent]:
        wired, by = self.wired, self.by
        registry, database, store, clock, settings = (
            wired.registry, wired.database, wired.store, wired.clock, wired.settings,
        )  # fmt: skip
        tell = {name: partial(self._tell, expect) for name, expect in self.expect.items()}
        return [
            Rescuer(registry, database, store, settings, by),
            Sweeper(database, store, clock, settings, by),
            Reconciler(registry, database, store, clock, settings, by, self.message_domain),
            Scheduler(registry, database, store, clock, settings, tell),
            Digester(registry, database, store, clock, settings, tell),
            Matcher(database, store, clock, settings, by, match),
            Pruner(registry, database, store, clock, settings),
        ]

    def _brokered(self) -> list[Agent]:
        """The agents between the store and the broker, where there is one."""
        if self.wired.queue is None:
            return []
        receivers = [
            Receiver(inbox, priority, self.expect[inbox.channel]) for inbox in self.inboxes for priority in Priority
        ]
        return [self.wired.promoter(self.wired.queue), *receivers, *map(Acknowledger, self.inboxes)]

    def _tell(self, expect: Expect, seconds: float, suspect: bool) -> None:
        """Tell a lane, and with it the broker, of what is new."""
        expect(seconds, suspect)
        self.wired.promote_soon()

    def _heard(self, channel: str) -> None:
        """Somebody says that a channel has something due."""
        if channel in self.expect:
            self._tell(self.expect[channel], 0.0, False)

    async def _prepare(self) -> None:
        await self.wired.check_schema()
        await self.wired.check_queue()
        await self.wired.refresh()
        if self.wired.promotion is not None:
            self.wired.promotion.settle()
        loop = asyncio.get_running_loop()
        for channel, expect in self.expect.items():
            # A program without an event loop schedules from another thread than the one its worker runs in.
            self.wired.wakers[channel] = partial(_from_any_thread, loop, expect)

    async def _listen(self) -> None:
        """Hear wake-ups until the connection ends."""
        assert self.wired.listen is not None
        ended = asyncio.Event()
        connection = await self.wired.listen(self._heard)
        connection.add_termination_listener(lambda _: ended.set())
        try:
            await ended.wait()
        finally:
            if not connection.is_closed():
                connection.terminate()

    async def _leave(self) -> None:
        """Let others have what was delivered here and not claimed."""
        for inbox in self.inboxes:
            inbox.leave()
            try:
                await inbox.tell_broker()
            except QueueUnavailable as error:
                log.info("messages for %s come again when their hold is over: %s", inbox.channel, error)


def _from_any_thread(loop: asyncio.AbstractEventLoop, expect: Expect, seconds: float) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(expect, seconds, False)


def _expect(lane: Lane, tasks: AsyncTasks, seconds: float, suspect: bool) -> None:
    lane.expect(seconds, suspect)
    tasks.wake()
