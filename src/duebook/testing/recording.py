"""A channel that sends nothing, remembers everything, and answers what it is told to."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from ..domain.message import Message
from ..domain.outcome import Accepted, Outcome, Uncertain, from_exception
from ..domain.policy import ChannelPolicy
from ..ports import Channel, SendContext

_order = count(1)


class Crash(BaseException):
    """An answer for RecordingChannel.next: the worker that makes this attempt dies and never reports. Its lease runs
    out, and the rescuer finds the notification. Raised in a handler, the worker dies before anything is sent."""


@dataclass(frozen=True, slots=True)
class _Taken:
    outcome: Answer


Answer = Outcome | BaseException | Callable[[Any, SendContext], Outcome] | _Taken
"""What a channel can be told to do: an outcome, an exception to raise, or a function of message and context."""


def accept_then(answer: Answer) -> Answer:
    """Return an answer for RecordingChannel.next: the provider takes the message, and the worker learns something else,
    such as `Uncertain("no reply")`, or nothing at all because of a `Crash()`."""
    return _Taken(answer)


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt that reached a channel. `taken`: the provider has it, so the recipient gets a copy. `duplicate`: it
    recognised the idempotency key of a copy it has already, and makes no second one."""

    kind: str
    key: str
    recipient: str
    message: Message
    at: datetime
    channel: str
    number: int
    idempotency_key: str
    outcome: Outcome
    taken: bool
    duplicate: bool = False
    order: int = field(default_factory=lambda: next(_order), repr=False, compare=False)

    @property
    def to(self) -> str | None:
        """The address in the message."""
        return getattr(self.message, "to", None)


class RecordingChannel:
    """Stands in for a channel. Without instructions it accepts everything.

    `key_window`: it is keyed, so for that long a repeated idempotency key makes no second copy. `through`: a channel
    that is asked in the end, where no answer has been scripted.
    """

    def __init__(
        self,
        name: str = "recording",
        *,
        key_window: timedelta | None = None,
        concurrency: int = 20,
        send_seconds: float = 15.0,
        pause: timedelta = timedelta(seconds=30),
        through: Channel | None = None,
    ) -> None:
        self.policy = ChannelPolicy(name, key_window, concurrency, None, send_seconds, pause)
        self.attempts: list[Sent] = []
        self._through = through
        self._next: deque[Answer] = deque()
        self._next_for: defaultdict[str, deque[Answer]] = defaultdict(deque)
        self._first: dict[str, tuple[datetime, str | None]] = {}

    @property
    def sent(self) -> list[Sent]:
        """The attempts that made a copy for somebody."""
        return [attempt for attempt in self.attempts if attempt.taken]

    def next(self, *answers: Answer, to: str | None = None) -> None:
        """Say what the next attempts are answered, one answer each; `to`: those for this recipient or address."""
        for answer in answers:
            _check(answer)
        queue = self._next if to is None else self._next_for[to]
        queue.extend(answers)

    async def send(self, message: Message, context: SendContext) -> Outcome:
        answer = self._answer(message, context)
        taken = isinstance(answer, _Taken)
        while isinstance(answer, _Taken):
            answer = answer.outcome
        if callable(answer):
            answer = answer(message, context)
        if answer is None:
            answer = await self._unscripted(message, context)
        error = answer if isinstance(answer, BaseException) else None
        outcome = _outcome(answer)
        self._record(message, context, outcome, taken or isinstance(outcome, Accepted))
        if error is not None:
            raise error
        return outcome

    async def close(self) -> None:
        if self._through is not None:
            await self._through.close()

    def _answer(self, message: Message, context: SendContext) -> Any:
        for name in (context.recipient, getattr(message, "to", None)):
            if queue := self._next_for.get(str(name)):
                return queue.popleft()
        return self._next.popleft() if self._next else None

    async def _unscripted(self, message: Message, context: SendContext) -> Outcome:
        if self._through is not None:
            return await self._through.send(message, context)
        known = self._known(context)
        return Accepted(known[1] if known else f"{self.policy.name}-{len(self.attempts) + 1}")

    def _known(self, context: SendContext) -> tuple[datetime, str | None] | None:
        window, first = self.policy.key_window, self._first.get(context.idempotency_key)
        return first if window is not None and first is not None and context.now < first[0] + window else None

    def _record(self, message: Message, context: SendContext, outcome: Outcome, reached: bool) -> None:
        known = self._known(context)
        if reached and not known:
            self._first[context.idempotency_key] = (context.now, getattr(outcome, "provider_id", None))
        self.attempts.append(
            Sent(
                context.kind, context.key, context.recipient, message, context.now, self.policy.name, context.number,
                context.idempotency_key, outcome, taken=reached and not known, duplicate=reached and bool(known),
            )
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"RecordingChannel({self.policy.name!r}, {len(self.attempts)} attempts)"


def _check(answer: Any) -> None:
    while isinstance(answer, _Taken):
        answer = answer.outcome
    if isinstance(answer, type) or not (isinstance(answer, (Outcome, BaseException)) or callable(answer)):
        raise TypeError(f"an answer is an Outcome, an exception or a function, such as Rejected('…'), not {answer!r}")


def _outcome(answer: Any) -> Outcome:
    if isinstance(answer, Crash):
        return Uncertain("the worker died")
    if isinstance(answer, BaseException):
        return from_exception(answer)
    if not isinstance(answer, Outcome):
        raise TypeError(f"a channel answers an Outcome or raises an exception, not {type(answer).__name__}")
    return answer
