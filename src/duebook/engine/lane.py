"""A lane: one channel in one worker process. It claims, asks, puts on record, sends, and settles.

One coroutine owns everything here; handlers and sends run beside it and hand back values. Each round takes whatever
has ended and writes it in as few statements as there are kinds of writing, so batches form by themselves under load
and a single notification waits for nobody.

    claim ─▶ decide ······▶ begin ─▶ send ······▶ settle          (······ runs beside the lane)

What a lane believes may be stale at any moment; every write is fenced, and a write that changes nothing means that
somebody else has the notification now. Two rules hold whatever fails: nothing is sent whose `begin` is not known to be
stored, and an outcome is offered to the store until it is taken or the process ends.
"""

from __future__ import annotations

import logging
import traceback
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..domain import deciding, settling
from ..domain.control import scope
from ..domain.identity import idempotency_key, message_id
from ..domain.message import Message, thaw
from ..domain.notification import Intent, Move, Notification
from ..domain.outcome import Outcome, Retry, Throttled, Uncertain, from_exception
from ..domain.policy import Mode
from ..errors import Busy, InvalidMessage, StoreUnavailable
from ..ports import Channel, Clock, Database, Draw, Finished, SendContext, Store, Tasks
from .claiming import Appetite
from .registry import Registry
from .settings import EngineSettings
from .writing import Writer

log = logging.getLogger("duebook.lane")

NEVER_SENT = Retry("the database went away while the intent was put on record, so it was not sent")


@dataclass(slots=True)
class Held:
    """A claimed notification that has not begun. `until`: the monotonic second its lease is safe to."""

    n: Notification
    until: float
    message: Message | None = None


@dataclass(slots=True)
class LaneState:
    held: dict[int, Held] = field(default_factory=dict)
    ready: deque[Held] = field(default_factory=deque)
    flying: dict[int, Intent] = field(default_factory=dict)
    modes: dict[str, Mode] = field(default_factory=dict)
    modes_read_at: float = -1e9
    extended_at: float = 0.0
    tokens: int = 0
    pace: float = 0.0
    paced_at: float = 0.0
    settled: int = 0


class Lane:
    """Serves one channel until its tasks are told to stop."""

    def __init__(
        self,
        channel: Channel,
        registry: Registry,
        database: Database,
        store: Store,
        clock: Clock,
        tasks: Tasks,
        draw: Draw,
        settings: EngineSettings,
        holder: str,
        domain: str,
    ) -> None:
        self.channel = channel
        self.policy = channel.policy
        self.kinds = registry.served()
        self.handlers = registry.handlers
        self.database = database
        self.store = store
        self.clock = clock
        self.tasks = tasks
        self.draw = draw
        self.settings = settings
        self.holder = holder
        self.domain = domain
        self.appetite = Appetite(settings)
        self.state = LaneState()
        self.writer = Writer(database, store)

    async def run(self) -> None:
        """Serve until stopped; then hand back what has not begun, settle what is on the wire, and return."""
        pause = 0.0
        while not (self.tasks.stopping and self._finished()):
            ended = await self.tasks.wait(pause)
            try:
                await self.round(ended)
                pause = self._pause()
            except (StoreUnavailable, Busy) as error:
                log.warning("lane %s waits for the database: %s", self.policy.name, error)
                pause = self.settings.poll_seconds

    async def round(self, ended: Sequence[Finished]) -> None:
        """Take what has ended, write it down, and start what can start."""
        now = self.clock.now()
        for item in ended:
            self._take(item, now)
        await self._write(now)
        if self.tasks.stopping:
            self._hand_back(list(self.state.held.values()), "the worker stops", now)
            await self._write(now)
            return
        await self._begin(now)
        await self._extend(now)
        await self._claim()

    def expect(self, seconds: float) -> None:
        """Somebody says that there is work in `seconds`."""
        self.appetite.expect(seconds, self.clock.monotonic())

    def _finished(self) -> bool:
        return not (self.state.held or self.state.flying or self.writer.pending)

    def _pause(self) -> float:
        """How long to wait for something to end before there is reason to look up anyway."""
        if self.tasks.stopping:
            return self.settings.poll_seconds
        monotonic = self.clock.monotonic()
        busy = self.state.held or self.state.flying
        waits = [self.state.extended_at + self.settings.third - monotonic] if busy else [self.settings.sweep_seconds]
        if self._room() > 0:
            waits.append(self.appetite.look_at - monotonic)
        return max(0.0, min(waits))

    # What has ended

    def _take(self, item: Finished, now: datetime) -> None:
        if isinstance(item.ticket, Intent):
            self._take_sent(item.ticket, item)
        else:
            self._take_decided(item.ticket, item, now)

    def _take_sent(self, intent: Intent, item: Finished) -> None:
        self.state.flying.pop(intent.id, None)
        self.state.settled += 1
        if item.error is None:
            outcome: Outcome = item.result
        elif isinstance(item.error, TimeoutError):
            outcome = Uncertain(f"no answer within {self.policy.send_seconds:g} s", phase="overrun")
        else:
            outcome = from_exception(item.error)
        self._settle(intent, outcome)

    def _settle(self, intent: Intent, outcome: Outcome) -> None:
        now = self.clock.now()
        kind = self.kinds[intent.notification.kind]
        quiet = self.settings.quiet(self.policy)
        move = settling.settle(intent, outcome, kind, self.policy, now, self.draw(), quiet)
        self.writer.outcomes.append((intent, outcome, move))
        if isinstance(outcome, Throttled):
            until = settling.throttled_until(outcome, self.policy, now)
            self.writer.throttles.append((self.policy.name, until, outcome.reason, self.holder))
            self.appetite.rest(self.clock.monotonic(), (until - now).total_seconds())
            self._hand_back(list(self.state.ready), "the channel is throttled", now)

    def _take_decided(self, held: Held, item: Finished, now: datetime) -> None:
        n = held.n
        if self.state.held.get(n.id) is not held:
            return
        verdict = self._verdict(n, item, now)
        if isinstance(verdict, Message):
            held.message = verdict
            self.state.ready.append(held)
        else:
            self._release(held, verdict)

    def _verdict(self, n: Notification, item: Finished, now: datetime) -> Move | Message:
        if item.error is not None:
            return self._failed(n, item.error, now)
        try:
            return deciding.judge(n, item.result, self.kinds[n.kind], self._mode(n.kind), now, self.holder)
        except (TypeError, InvalidMessage) as error:
            return self._failed(n, error, now)

    def _failed(self, n: Notification, error: BaseException, now: datetime) -> Move:
        kind = self.kinds[n.kind]
        if isinstance(error, TimeoutError):
            detail = f"the handler took longer than {kind.handler_seconds:g} s"
        else:
            detail = "".join(traceback.format_exception(error)[-12:])
        return deciding.failed(n, error, detail, kind, now, self.holder, self.draw())

    def _release(self, held: Held, move: Move) -> None:
        self.state.held.pop(held.n.id, None)
        self.writer.moves.append(move)

    def _hand_back(self, several: Sequence[Held], reason: str, now: datetime) -> None:
        for held in several:
            self._release(held, deciding.give_back(held.n, now, self.holder, reason))
        self.state.ready.clear()

    # What is written

    async def _write(self, now: datetime) -> None:
        for intent in await self.writer.flush(now):
            # The intent was never stored: the notification is still ours, as it was claimed.
            self.writer.moves.append(deciding.give_back(intent.notification, now, self.holder, NEVER_SENT.reason))
        await self.writer.flush(now)

    async def _begin(self, now: datetime) -> None:
        """Put intents on record for as many as may be on the wire at once, and send those that were stored."""
        monotonic = self.clock.monotonic()
        intents: list[Intent] = []
        while self.state.ready and len(self.state.flying) + len(intents) < self.policy.concurrency:
            held = self.state.ready.popleft()
            if held.until - monotonic < self.settings.third:
                self._release(held, deciding.give_back(held.n, now, self.holder, "its lease was too near its end"))
            elif (intent := self._intent(held, now)) is not None:
                intents.append(intent)
        if not intents:
            return
        try:
            stored = await self.writer.begin(self.policy.name, intents, now)
        except (StoreUnavailable, Busy):
            for intent in intents:
                self.state.held.pop(intent.id, None)
                self._settle(intent, NEVER_SENT)
            raise
        for intent in intents:
            held = self.state.held.pop(intent.id)
            if intent.id in stored:
                self._send(intent, held)
            elif (error := self.writer.unstorable.pop(intent.id, None)) is not None:
                self.writer.moves.append(self._failed(held.n, error, now))
            else:
                # Somebody else has it, or the channel is paused; the fence tells which.
                self.writer.moves.append(deciding.give_back(held.n, now, self.holder, "it could not begin"))

    def _intent(self, held: Held, now: datetime) -> Intent | None:
        assert held.message is not None
        try:
            verdict = deciding.intend(held.n, held.message, self.policy, now, self.holder)
        except InvalidMessage as error:
            verdict = self._failed(held.n, error, now)
        if isinstance(verdict, Intent):
            return verdict
        self._release(held, verdict)
        return None

    def _send(self, intent: Intent, held: Held) -> None:
        n = intent.notification
        assert held.message is not None
        # While an attempt is in doubt the stored bytes go out again, not the message just decided.
        message = thaw(intent.message) if intent.doubt else held.message
        key = idempotency_key(n.namespace, n.kind, n.key)
        context = SendContext(
            n.kind, n.key, n.recipient, intent.number, key, message_id(key, self.domain), self.policy.send_seconds,
            intent.rendered_at,
        )  # fmt: skip
        self.state.flying[intent.id] = intent
        self.tasks.start(intent, _sent(self.channel, message, context), self.policy.send_seconds + 1.0)

    async def _extend(self, now: datetime) -> None:
        """Lengthen what is being decided or sent; hand back what has waited longer than it should."""
        monotonic = self.clock.monotonic()
        if monotonic - self.state.extended_at < self.settings.third:
            return
        self.state.extended_at = monotonic
        self._hand_back(list(self.state.ready), "it waited too long for its turn", now)
        held = [(h.n.id, h.n.version) for h in self.state.held.values()]
        flying = [(intent.id, intent.version) for intent in self.state.flying.values()]
        if not held and not flying:
            return
        kept = await self.database.ask(self.store.extend([*held, *flying], now, now + self.settings.lease))
        for id, _ in held:
            if id in kept:
                self.state.held[id].until = monotonic + self.settings.lease_seconds
            else:
                del self.state.held[id]

    # What is taken on

    def _room(self) -> int:
        """How many more to claim: no more than can begin within a third of a lease."""
        able = int(self.state.pace * self.settings.third)
        most = min(2 * self.policy.concurrency, max(self.policy.concurrency, able), self.settings.batch)
        room = most - len(self.state.held)
        alone = any(h.n.alone for h in self.state.held.values())
        alone = alone or any(intent.notification.alone for intent in self.state.flying.values())
        return 0 if alone or room < max(1, most // 4) else room

    async def _claim(self) -> None:
        monotonic = self.clock.monotonic()
        room = self._room()
        if room <= 0 or not self.kinds or not self.appetite.due(monotonic):
            return
        self._measure(monotonic)
        if not self.appetite.certain_of_more and not await self._something_due(monotonic):
            return
        room = min(room, await self._tokens(room))
        ask = self.appetite.ask(room, not (self.state.held or self.state.flying), monotonic)
        if room <= 0 or not ask.anything:
            return
        now = self.clock.now()
        plan = self.store.claim(
            self.policy.name, self.kinds, ask.limits, ask.alone, ask.floor, now, now + self.settings.lease, self.holder
        )
        found = await self.database.ask(plan)
        self.appetite.yielded(ask, found, now, monotonic)
        self.state.tokens -= len(found)
        if found:
            await self._read_modes(monotonic)
        for n in sorted(found, key=lambda n: (n.priority, n.due_at, n.id)):
            self._consider(Held(n, monotonic + self.settings.lease_seconds), now)

    def _consider(self, held: Held, now: datetime) -> None:
        n = held.n
        self.state.held[n.id] = held
        move = deciding.precheck(n, self._mode(n.kind), now, self.holder)
        if move is not None:
            self._release(held, move)
        else:
            work = _decided(self.handlers[n.kind], deciding.due(n, now))
            self.tasks.start(held, work, self.kinds[n.kind].handler_seconds)

    async def _something_due(self, monotonic: float) -> bool:
        wake_at = await self.database.ask(self.store.peek(self.policy.name, self.kinds, self.appetite.floor(monotonic)))
        self.appetite.peeked(wake_at, self.clock.now(), monotonic)
        return self.appetite.certain_of_more

    async def _tokens(self, room: int) -> int:
        """Take a block of the channel's shared rate; what is not used now stays for the next claim."""
        if self.policy.rate is None:
            return room
        if self.state.tokens <= 0:
            now = self.clock.now()
            plan = self.store.take_rate(self.policy.name, room, self.policy.rate, self.holder, now)
            self.state.tokens, free_at = await self.database.ask(plan)
            if self.state.tokens <= 0:
                self.appetite.rest(self.clock.monotonic(), max(0.01, (free_at - now).total_seconds() - 0.1))
        return self.state.tokens

    async def _read_modes(self, monotonic: float) -> None:
        if monotonic - self.state.modes_read_at >= self.settings.poll_seconds:
            controls = await self.database.ask(self.store.read_controls())
            self.state.modes = {control.scope: control.mode for control in controls if control.mode is not None}
            self.state.modes_read_at = monotonic

    def _mode(self, kind: str) -> Mode:
        return self.state.modes.get(scope(kind=kind), "live")

    def _measure(self, monotonic: float) -> None:
        elapsed = monotonic - self.state.paced_at
        if elapsed >= 1.0:
            self.state.pace = self.state.settled / elapsed
            self.state.settled, self.state.paced_at = 0, monotonic


async def _decided(handler: object, due: object) -> object:
    return await handler(due)  # type: ignore[operator]


async def _sent(channel: Channel, message: Message, context: SendContext) -> Outcome:
    return await channel.send(message, context)
