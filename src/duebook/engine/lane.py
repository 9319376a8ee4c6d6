"""A lane: one channel in one worker process. It claims, asks, puts on record, sends, and settles.

    claim ······▶ decide ······▶ begin ······▶ send ······▶ settle

One coroutine owns everything here and awaits nothing but the next piece of work that ends; the dots run beside it and
hand back values. Of claim, begin and settle at most one each is under way, and each takes along whatever has gathered
since the last, so batches form by themselves under load and a single notification waits for nobody.

What a lane believes may be stale at any moment; every write is fenced, and a write that changes nothing means that
somebody else has the notification now. Two rules hold whatever fails: nothing is sent whose `begin` is not known to be
stored, and an outcome is offered to the store until it is taken or the process ends.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import partial
from typing import Any

from ..domain import attention, deciding, settling
from ..domain.message import Message, thaw
from ..domain.notification import Intent, Move
from ..domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled
from ..errors import Busy, InvalidMessage, StoreUnavailable
from ..ports import Channel, Clock, Database, Draw, Finished, Store, Tasks
from .appetite import UNTOLD_SECONDS
from .asking import ask
from .claiming import Claimer, Held
from .claiming_delivered import DeliveredClaimer
from .inbox import Inbox
from .judging import Judge
from .pacing import Pacing
from .registry import Registry
from .sending import attempt, context_of
from .settings import EngineSettings
from .writing import Writer

log = logging.getLogger("duebook.lane")

NEVER_SENT = Retry("the database went away while the intent was put on record, so it was not sent")
STORE_SECONDS = 120.0


class Pen(Enum):
    """The lane's own pieces of work; of each at most one is under way."""

    CLAIM = "claim"
    EXTEND = "extend"
    SETTLE = "settle"


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """Intents on their way into the store."""

    batch: Sequence[tuple[Held, Intent]]


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
        message_domain: str,
        inbox: Inbox | None = None,
    ) -> None:
        self.channel = channel
        self.policy = channel.policy
        self.kinds = registry.served()
        self.handlers = registry.handlers
        self.judge = Judge(channel.policy, self.kinds, registry.channels, settings, draw, holder)
        self.database = database
        self.store = store
        self.clock = clock
        self.tasks = tasks
        self.settings = settings
        self.holder = holder
        self.message_domain = message_domain
        self.pacing = Pacing(channel.policy)
        hand = Claimer if inbox is None else partial(DeliveredClaimer, inbox)
        self.claimer = hand(channel.policy, self.kinds, database, store, clock, settings, holder, self.pacing)
        self.writer = Writer(database, store)
        self.held: dict[int, Held] = {}
        self.ready: deque[Held] = deque()
        self.flying: dict[int, Intent] = {}
        self.busy: set[Pen] = set()
        self.beginning: Beginning | None = None
        self.fault: BaseException | None = None
        self.claim_heeds_throttles = True
        self.settle_at = self.extended_at = self.throttled_until = clock.monotonic()
        self.pace = 0.0
        self.paced_at = self.extended_at
        self.settled = 0

    async def run(self) -> None:
        """Serve until stopped; then hand back what has not begun, settle what is on the wire, and return."""
        pause = 0.0
        while not (self.tasks.stopping and self.finished):
            self.round(await self.tasks.wait(pause))
            pause = self.pause()

    def round(self, ended: Sequence[Finished]) -> None:
        """Take what has ended, and start what can start."""
        now, monotonic = self.clock.now(), self.clock.monotonic()
        for item in ended:
            self._take(item, now, monotonic)
        if self.fault is not None:
            # Only now: whatever else ended with it has been taken.
            fault, self.fault = self.fault, None
            raise fault
        if self.tasks.stopping:
            self._hand_back([held for held in self.held.values() if not self._begins(held)], "the worker stops", now)
        else:
            self._begin(now, monotonic)
            self._claim(monotonic)
        self._extend(now, monotonic)
        if self.writer.pending and monotonic >= self.settle_at:
            self._start(Pen.SETTLE, self.writer.flush(now))

    def expect(self, seconds: float, suspect: bool = False) -> None:
        """Somebody says that there is work in `seconds`, or that a suspect waits for its turn."""
        self.claimer.appetite.expect(seconds, self.clock.monotonic())
        if suspect:
            self.claimer.appetite.suspect()

    @property
    def finished(self) -> bool:
        return self.finished_but()

    def finished_but(self, *pens: Pen) -> bool:
        """Whether nothing is held, on the wire or unwritten, and nothing but `pens` is under way."""
        waiting = self.held or self.flying or self.writer.pending or self.beginning
        return not waiting and self.busy <= set(pens)

    def pause(self) -> float:
        """How long to wait for something to end before there is reason to look up anyway."""
        monotonic = self.clock.monotonic()
        wakes = [monotonic + UNTOLD_SECONDS]
        if self.held or self.flying:
            wakes.append(self.extended_at + self.settings.third)
        if self.writer.pending and Pen.SETTLE not in self.busy:
            wakes.append(self.settle_at)
        if self._room() > 0 and Pen.CLAIM not in self.busy and not self.tasks.stopping:
            wakes.append(self.claimer.appetite.look_at)
        return max(0.0, min(wakes) - monotonic)

    def _start(self, pen: Pen, work: Coroutine[Any, Any, Any]) -> None:
        if pen in self.busy:
            work.close()
        else:
            self.busy.add(pen)
            self.tasks.start(pen, work, STORE_SECONDS)

    # What has ended

    def _take(self, item: Finished, now: datetime, monotonic: float) -> None:
        ticket = item.ticket
        if isinstance(ticket, Held):
            self._decided(ticket, item, now)
        elif isinstance(ticket, Intent):
            self._sent(ticket, item)
        elif isinstance(ticket, Beginning):
            self._begun(ticket, item, now, monotonic)
        else:
            self.busy.discard(ticket)
            if item.error is not None:
                self._trouble(ticket, item.error, monotonic)
            elif ticket is Pen.CLAIM:
                if item.result and self.claim_heeds_throttles:
                    # It consulted the pauses, so a throttle that this lane remembers has been lifted.
                    self.throttled_until = monotonic
                for held in item.result:
                    self._consider(held, now)
            elif ticket is Pen.EXTEND:
                self._extended(item.result, monotonic)

    def _trouble(self, pen: Pen, error: BaseException, monotonic: float) -> None:
        """Wait a moment for a database that is gone; anything else is a fault, and the supervisor's to report."""
        self.claimer.appetite.rest(monotonic, self.settings.poll_seconds)
        if not isinstance(error, (StoreUnavailable, Busy, TimeoutError)):
            self.fault = error
            return
        log.warning("lane %s could not %s and tries again: %s", self.policy.name, pen.value, error)
        self.settle_at = monotonic + self.settings.poll_seconds

    def _consider(self, held: Held, now: datetime) -> None:
        n = held.n
        self.held[n.id] = held
        move = deciding.precheck(n, self.claimer.mode(n.kind), now, self.holder)
        if move is not None:
            self._release(held, move)
        else:
            kind = self.kinds[n.kind]
            self.tasks.start(held, ask(self.handlers[n.kind], held, kind, now), kind.handler_seconds)

    def _decided(self, held: Held, item: Finished, now: datetime) -> None:
        if self.held.get(held.n.id) is not held:
            return
        verdict = self.judge.decided(held.n, item, self.claimer.mode(held.n.kind), now)
        if isinstance(verdict, Message):
            held.message = verdict
            self.ready.append(held)
        else:
            self._release(held, verdict)

    def _begun(self, beginning: Beginning, item: Finished, now: datetime, monotonic: float) -> None:
        """Send what is known to be on record. What is not known to be is settled as never sent, and never sent."""
        self.beginning = None
        for held, intent in beginning.batch:
            if self.held.get(intent.id) is held:
                del self.held[intent.id]
            if item.error is not None:
                self.writer.unsure.add((intent.id, intent.number))
                self._settle(intent, NEVER_SENT)
            elif intent.id in item.result:
                self._send(intent, held)
            elif (error := self.writer.unstorable.pop(intent.id, None)) is not None:
                self.writer.moves.append(self.judge.failed(held.n, error, now))
            elif (why := self.writer.suppressed.pop(intent.id, None)) is not None:
                self.writer.moves.append(deciding.suppressed(held.n, why, now, self.holder))
            else:
                # Somebody else has it, or the channel is paused; the fence tells which.
                self.writer.moves.append(deciding.give_back(held.n, now, self.holder, "it could not begin"))
        if item.error is not None:
            self._trouble(Pen.SETTLE, item.error, monotonic)

    def _sent(self, intent: Intent, item: Finished) -> None:
        self.flying.pop(intent.id, None)
        self.settled += 1
        self._settle(intent, self.judge.outcome(item))

    def _settle(self, intent: Intent, outcome: Outcome) -> None:
        now = self.clock.now()
        move = self.judge.settled(intent, outcome, now)
        self.writer.outcomes.append((intent, outcome, move))
        self._look_again(move)
        self._learn(outcome, move, now)

    def _learn(self, outcome: Outcome, move: Move, now: datetime) -> None:
        """Drive the channel harder or less hard by what became of an attempt."""
        if isinstance(outcome, Throttled):
            self.pacing.throttled()
            self._rest(settling.throttled_until(outcome, self.policy, now), move.reason or "", now)
        elif isinstance(outcome, (Accepted, Rejected)):
            self.pacing.answered()
            if self.claimer.probing:
                self.writer.relieved = self.policy.name
                self.claimer.relieved()
        elif outcome is not NEVER_SENT and (pause := self.pacing.failed(probing=self.claimer.probing)) is not None:
            self._rest(now + pause, f"its breaker is open, sends fail: {move.reason}", now)

    def _rest(self, until: datetime, reason: str, now: datetime) -> None:
        """Let the channel rest, here at once and everywhere as soon as it is on record."""
        seconds, monotonic = (until - now).total_seconds(), self.clock.monotonic()
        self.writer.throttles.append((self.policy.name, until, reason, self.holder))
        self.throttled_until = monotonic + seconds
        self.claim_heeds_throttles = False
        self.claimer.probing = False
        self.claimer.appetite.rest(monotonic, seconds)

    def _extended(self, kept: set[int], monotonic: float) -> None:
        for id in [id for id, held in self.held.items() if held.until <= monotonic and id not in kept]:
            del self.held[id]

    def _release(self, held: Held, move: Move) -> None:
        if self.held.get(held.n.id) is held:
            del self.held[held.n.id]
        self.writer.moves.append(move)
        self._look_again(move)

    def _look_again(self, move: Move) -> None:
        """Remember when a notification that goes back will be due, if this lane is to serve it."""
        if move.wake_at is not None and move.wake_at > move.at:
            self.claimer.appetite.expect((move.wake_at - move.at).total_seconds(), self.clock.monotonic())

    def _hand_back(self, several: Sequence[Held], reason: str, now: datetime) -> None:
        for held in several:
            if self.held.get(held.n.id) is held:
                self._release(held, deciding.give_back(held.n, now, self.holder, reason))
        self.ready.clear()

    # What can start

    def _begins(self, held: Held) -> bool:
        return self.beginning is not None and any(held is other for other, _ in self.beginning.batch)

    def _begin(self, now: datetime, monotonic: float) -> None:
        """Put intents on record for as many as may be on the wire at once.

        What has been answered and is not yet written counts, too: should this worker die now, no more than the
        channel's concurrency is in doubt.
        """
        if monotonic < self.throttled_until:
            self._hand_back(list(self.ready), "the channel is throttled", now)
        if self.beginning is not None or monotonic < self.settle_at:
            return
        batch: list[tuple[Held, Intent]] = []
        free = self.pacing.size - len(self.flying) - len(self.writer.outcomes)
        while self.ready and len(batch) < free:
            held = self.ready.popleft()
            if self.held.get(held.n.id) is not held:
                # Its lease was lost while it waited; by now it may be held anew.
                continue
            if held.until - monotonic < self.settings.third:
                self._release(held, deciding.give_back(held.n, now, self.holder, "its lease was too near its end"))
            elif (intent := self._intent(held, now)) is not None:
                batch.append((held, intent))
        if batch:
            self.beginning = Beginning(batch)
            work = self.writer.begin(self.policy.name, [intent for _, intent in batch], now)
            self.tasks.start(self.beginning, work, STORE_SECONDS)

    def _intent(self, held: Held, now: datetime) -> Intent | None:
        assert held.message is not None
        try:
            verdict = deciding.intend(held.n, held.facts, held.message, self.policy, now, self.holder)
        except InvalidMessage as error:
            verdict = self.judge.failed(held.n, error, now)
        if isinstance(verdict, Intent):
            return verdict if held.attention is None else attention.taken(verdict, held.attention)
        self._release(held, verdict)
        return None

    def _send(self, intent: Intent, held: Held) -> None:
        assert held.message is not None
        # While an attempt is in doubt the stored bytes go out again, not the message just decided.
        message = thaw(intent.message) if intent.doubt else held.message
        context = context_of(intent, self.policy, self.message_domain, self.clock.now())
        self.flying[intent.id] = intent
        work = attempt(self.channel, message, context, self.clock, held.until)
        self.tasks.start(intent, work, self.policy.send_seconds + 1.0)

    def _extend(self, now: datetime, monotonic: float) -> None:
        """Lengthen what is being decided or sent; hand back what has waited longer than it should."""
        if monotonic - self.extended_at < self.settings.third:
            return
        self.extended_at = monotonic
        self._hand_back(list(self.ready), "it waited too long for its turn", now)
        held = [(held.n.id, held.n.version) for held in self.held.values() if not self._begins(held)]
        flying = [(intent.id, intent.version) for intent in self.flying.values()]
        if held or flying:
            self._start(Pen.EXTEND, self._lengthen([*held, *flying], now, monotonic))

    async def _lengthen(self, held: Sequence[tuple[int, int]], now: datetime, monotonic: float) -> set[int]:
        kept = await self.database.ask(self.store.extend(held, now, now + self.settings.lease))
        for id in kept & self.held.keys():
            self.held[id].until = monotonic + self.settings.lease_seconds
        return kept

    def _room(self) -> int:
        """How many more to claim: no more than can begin within a third of a lease, and none beside a suspect or the
        one that tries out a throttled channel."""
        alone = self.claimer.probing or self.claimer.appetite.suspects or self._isolated()
        if alone and not self.finished_but(Pen.CLAIM):
            return 0
        able = int(self.pace * self.settings.third)
        most = min(2 * self.pacing.size, max(self.pacing.size, able), self.settings.batch)
        room = most - len(self.held)
        return 0 if room < max(1, most // 4) else room

    def _isolated(self) -> bool:
        """Whether the lane holds a suspect, which travels alone."""
        held = any(held.n.alone for held in self.held.values())
        return held or any(intent.notification.alone for intent in self.flying.values())

    def _claim(self, monotonic: float) -> None:
        if Pen.CLAIM in self.busy or not self.kinds or not self.claimer.appetite.due(monotonic):
            return
        if monotonic - self.paced_at >= 1.0:
            self.pace, self.settled = self.settled / (monotonic - self.paced_at), 0
            self.paced_at = monotonic
        if (room := self._room()) > 0:
            self.claim_heeds_throttles = not self.writer.throttles and Pen.SETTLE not in self.busy
            self._start(Pen.CLAIM, self.claimer.claim(room, self.finished_but()))
