"""What a lane asks for next: how many, from where in the index, and when it is worth asking at all.

A lane that has emptied its channel asks once when the next one is due and sleeps until then. What is scheduled in the
meantime it learns from the lookout, which looks once a second for all lanes together; waking is a hint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ..domain.fairness import class_shares, full_classes
from ..domain.notification import Notification
from .settings import EngineSettings

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SUSPECTS_IN_A_ROW = 20
UNTOLD_SECONDS = 60.0
"""After this long a lane looks for itself, should the lookout have told it nothing."""


@dataclass(frozen=True, slots=True)
class Ask:
    limits: tuple[int, int, int]
    alone: int
    floor: datetime

    @property
    def anything(self) -> bool:
        return any(self.limits) or bool(self.alone)


class Appetite:
    """Remembers what the last looks yielded. Times are monotonic seconds, except for the floor."""

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._floor = EPOCH
        self._swept_at = -1e9
        self.suspects = 0
        self.look_at = -1e9
        self.certain_of_more = True

    def due(self, monotonic: float) -> bool:
        return monotonic >= self.look_at

    def expect(self, seconds: float, monotonic: float) -> None:
        """Somebody says that there is work in `seconds`."""
        self.look_at = min(self.look_at, monotonic + max(0.0, seconds))

    def suspect(self) -> None:
        """Somebody says that a suspect is due: under load, too, it gets its turn, and a few others with it."""
        self.suspects = self.suspects or SUSPECTS_IN_A_ROW

    def floor(self, monotonic: float) -> datetime:
        """Return where in the index to start; from the very start once in a while, for what became visible late."""
        if monotonic - self._swept_at >= self._settings.sweep_seconds:
            self._swept_at = monotonic
            self._floor = EPOCH
        return self._floor

    def ask(self, room: int, empty: bool, monotonic: float) -> Ask:
        """Return what to claim. Only an empty lane takes a suspect; when their turn comes, other claims stop first."""
        floor = self.floor(monotonic)
        if self.suspects:
            return Ask((0, 0, 0), int(empty), floor)
        return Ask(class_shares(room), int(empty), floor)

    def yielded(self, ask: Ask, found: Sequence[Notification], now: datetime, monotonic: float) -> None:
        """Learn from a claim. Rows come oldest first, so what is left of a full class is no older than its newest."""
        if not any(ask.limits):
            self.suspects = self.suspects - 1 if found else 0
            return
        due: list[list[datetime]] = [[], [], []]
        for n in found:
            due[n.priority].append(n.due_at)
        full = full_classes(ask.limits, [len(one) for one in due])
        newest = [now, *(max(due[priority]) for priority in full)]
        self._floor = max(self._floor, min(newest) - timedelta(seconds=self._settings.sweep_seconds))
        self.certain_of_more = len(newest) > 1 or any(n.alone for n in found)
        if not found:
            # Due, but not for the taking: paused, or locked by somebody else.
            self.look_at = monotonic + self._settings.poll_seconds

    def peeked(self, wake_at: datetime | None, now: datetime, monotonic: float) -> None:
        """Learn when the next one is due."""
        self.certain_of_more = wake_at is not None and wake_at <= now
        if not self.certain_of_more:
            wait = UNTOLD_SECONDS
            if wake_at is not None:
                wait = min(wait, (wake_at - now).total_seconds())
            self.look_at = monotonic + wait

    def rest(self, monotonic: float, seconds: float) -> None:
        """Do not look before `seconds` have passed."""
        self.look_at = max(self.look_at, monotonic + seconds)
