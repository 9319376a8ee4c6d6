"""The hand of a lane that reaches for more: asks, claims, and knows how each kind is to be treated.

One claim is under way at a time, beside the lane. What it may take is bounded by the channel's shared rate, taken in
blocks before the claim, and by what the lane has room for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..domain.attention import Attention
from ..domain.control import Control, scope
from ..domain.deciding import Facts
from ..domain.message import Message
from ..domain.notification import Notification
from ..domain.people import Person
from ..domain.policy import ChannelPolicy, Kind, Mode
from ..ports import Clock, Database, Store
from .appetite import Appetite
from .facts import gather
from .pacing import Pacing
from .settings import EngineSettings


@dataclass(slots=True, eq=False)
class Held:
    """A claimed notification that has not begun. `until`: the monotonic second its lease is safe to. `facts`: what was
    on record beside it a moment after it was claimed."""

    n: Notification
    until: float
    facts: Facts | None = None
    attention: Attention | None = None
    person: Person | None = None
    message: Message | None = None


class Claimer:
    def __init__(
        self,
        policy: ChannelPolicy,
        kinds: Mapping[str, Kind],
        database: Database,
        store: Store,
        clock: Clock,
        settings: EngineSettings,
        holder: str,
        pacing: Pacing,
    ) -> None:
        self.policy = policy
        self.kinds = kinds
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.holder = holder
        self.appetite = Appetite(settings)
        self.pacing = pacing
        self.probing = False
        self._tokens = 0
        self._modes: Mapping[str, Mode] = {}
        self._control: Control | None = None
        self._controls_read_at = -1e9

    def mode(self, kind: str) -> Mode:
        """How a kind is to be treated, as of at most a poll ago."""
        return self._modes.get(kind, "live")

    async def claim(self, room: int, empty: bool) -> list[Held]:
        """Take up to `room` due notifications under a lease; `empty`: the lane holds nothing, so it may take a suspect.

        The lease is counted from before it was asked for, so that the lane never believes in it longer than others do.
        """
        monotonic = self.clock.monotonic()
        if not self.appetite.certain_of_more and not await self._something_due(monotonic):
            return []
        await self._read_controls(monotonic)
        room = await self._afford(await self._permitted(room, monotonic))
        ask = self.appetite.ask(room, empty, monotonic)
        if not room or not ask.anything:
            return []
        monotonic, now = self.clock.monotonic(), self.clock.now()
        until = now + self.settings.lease
        plan = self.store.claim(self.policy.name, self.kinds, ask.limits, ask.alone, ask.floor, now, until, self.holder)
        found = await self.database.ask(plan)
        self.appetite.yielded(ask, found, now, monotonic)
        self._tokens -= len(found)
        return await self._hold(found, monotonic)

    async def _hold(self, found: list[Notification], monotonic: float) -> list[Held]:
        """Read what is on record beside what was just claimed."""
        found.sort(key=lambda n: (n.priority, n.due_at, n.id))
        facts = await self._facts(found)
        attention = await self._attention(found, self.clock.now())
        people = await self.database.ask(self.store.read_people({n.recipient for n in found})) if found else {}
        until_monotonic = monotonic + self.settings.lease_seconds
        return [Held(n, until_monotonic, facts.get(n.id), attention.get(n.id), people.get(n.recipient)) for n in found]

    async def _attention(self, found: list[Notification], now: datetime) -> Mapping[int, Attention]:
        limits = {n.id: (n.recipient, limit) for n in found if (limit := self.kinds[n.kind].attention) is not None}
        return await self.database.ask(self.store.read_attention(limits, now)) if limits else {}

    async def _facts(self, found: list[Notification]) -> Mapping[int, Facts]:
        if not any(self.kinds[n.kind].reads_facts for n in found):
            return {}
        return await self.database.ask(gather(self.store, found, self.kinds))

    async def _something_due(self, monotonic: float) -> bool:
        wake_at = await self.database.ask(self.store.peek(self.policy.name, self.kinds, self.appetite.floor(monotonic)))
        self.appetite.peeked(wake_at, self.clock.now(), monotonic)
        return self.appetite.certain_of_more

    async def _afford(self, room: int) -> int:
        """Return how many of `room` the channel's shared rate allows; what is not used stays
        for the next claim, and what was taken too much is owed."""
        if self.policy.rate is None:
            return room
        if self._tokens <= 0:
            now = self.clock.now()
            plan = self.store.take_rate(self.policy.name, room, self.policy.rate, self.holder, now)
            granted, free_at = await self.database.ask(plan)
            self._tokens += granted
            if self._tokens <= 0:
                self.appetite.rest(self.clock.monotonic(), max(0.01, (free_at - now).total_seconds()))
        return max(0, min(room, self._tokens))

    async def _permitted(self, room: int, monotonic: float) -> int:
        """Return how many of `room` a throttle lets through: none while the channel rests, and then one worker's one
        send, which tries it out for all."""
        self.probing = False
        now, control = self.clock.now(), self._control
        if control is None or control.paused_until is None:
            return room
        if control.paused_until > now:
            self.appetite.rest(monotonic, (control.paused_until - now).total_seconds())
            return 0
        until = now + timedelta(seconds=self.policy.send_seconds) + self.settings.lease
        self.probing = await self.database.ask(self.store.take_probe(self.policy.name, self.holder, now, until))
        if not self.probing:
            self.appetite.rest(monotonic, self.settings.poll_seconds)
        return min(room, int(self.probing))

    def relieved(self) -> None:
        """The channel takes messages again."""
        self.probing = False
        self._control = None
        self.appetite.expect(0.0, self.clock.monotonic())

    async def _read_controls(self, monotonic: float) -> None:
        if monotonic - self._controls_read_at < self.settings.poll_seconds:
            return
        controls = {control.scope: control for control in await self.database.ask(self.store.read_controls())}
        self._modes = {
            kind: mode
            for kind in self.kinds
            if (found := controls.get(scope(kind=kind))) is not None and (mode := found.mode) is not None
        }
        control = controls.get(scope(channel=self.policy.name))
        if control is not None and control.by != self.holder and self._is_new(control):
            self.pacing.throttled()
        self._control = control
        self._controls_read_at = monotonic

    def _is_new(self, control: Control) -> bool:
        known = self._control.paused_until if self._control is not None else None
        return control.paused_until is not None and control.paused_until != known
