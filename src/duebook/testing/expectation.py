"""What a test expects of one notification, said about its story and not about strings."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ..domain.lifecycle import State
from ..domain.walltime import LocalTime, promise

if TYPE_CHECKING:
    from typing import Self

    from ..domain.story import Story


class Expectation:
    """Each method raises AssertionError with the whole story if it is told otherwise; they can be chained.

    `reason`: a part of the reason on record.
    """

    def __init__(self, story: Story, now: datetime) -> None:
        self.story = story
        self._now = now
        self._n = story.notification

    @property
    def state(self) -> State:
        return self._n.state if self._n is not None else self.story.identity.state

    @property
    def reason(self) -> str:
        """The reason on record; empty if there is none."""
        return (self._n.reason if self._n is not None else self.story.identity.reason) or ""

    def accepted(self) -> Self:
        """A provider took it, or it counts as taken; the story says on what grounds."""
        return self._in(State.ACCEPTED)

    def skipped(self, *, reason: str = "") -> Self:
        """It was not needed any more, or it came too late to be worth anything."""
        return self._in(State.SKIPPED, reason)

    def cancelled(self, *, reason: str = "") -> Self:
        return self._in(State.CANCELLED, reason)

    def dropped(self, *, reason: str = "") -> Self:
        return self._in(State.DROPPED, reason)

    def uncertain(self, *, reason: str = "") -> Self:
        """Nobody knows whether it was sent, and it waits for evidence or a person."""
        return self._in(State.UNCERTAIN, reason)

    def in_review(self, *, reason: str = "") -> Self:
        """It was refused or given up, and waits for a person."""
        return self._in(State.REVIEW, reason)

    def scheduled(self, *, at: datetime | LocalTime | None = None, reason: str = "") -> Self:
        """It waits; `at`: for exactly this instant, be it the promised one, a retry's or a deferral's."""
        self._in(State.SCHEDULED, reason)
        wake_at = self._n.wake_at if self._n is not None else None
        if at is not None and promise(at).due_at != wake_at:
            self._fail(f"should wait until {promise(at).due_at:%Y-%m-%d %H:%M:%S.%f} UTC, "
                       f"and waits until {wake_at:%Y-%m-%d %H:%M:%S.%f} UTC")  # fmt: skip
        return self

    def attempts(self, number: int) -> Self:
        """So many attempts have begun, whatever became of them."""
        begun = self._n.number if self._n is not None else len(self.story.attempts)
        if begun != number:
            self._fail(f"should have {number} attempts, and has {begun}")
        return self

    def _in(self, state: State, reason: str = "") -> Self:
        if self.state is not state:
            self._fail(f"should be {_said(state)}, and is {_said(self.state)}")
        if reason not in self.reason:
            self._fail(f"should be {_said(state)} because of {reason!r}, and the reason is {self.reason!r}")
        return self

    def _fail(self, problem: str) -> None:
        # The narration belongs to the command line; it is needed only now.
        from ..cli.telling import tell

        __tracebackhide__ = True
        identity = self.story.identity
        told = "\n".join(tell(self.story, self._now, full=True))
        raise AssertionError(f"{identity.kind}/{identity.key} {problem}\n\n{told}")


def _said(state: State) -> str:
    return "in review" if state is State.REVIEW else state.value


def unknown(kind: str, key: str, known: list[str]) -> AssertionError:
    """Return the error for an identity that nobody has scheduled."""
    there = ", ".join(known) if known else "nothing at all"
    return AssertionError(f"{kind}/{key} was never scheduled. On record: {there}")
