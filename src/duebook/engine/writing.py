"""The pen of a lane: what must reach the store, kept until it has.

Outcomes are settled together. A batch that the store refuses for a reason of its own is halved until the row at fault
is alone, so that one bad row never costs the record of its neighbours. An outcome whose fence no longer holds is kept
as evidence: the attempt was real, even if somebody else has ruled on it since.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

from ..domain.deciding import give_back
from ..domain.notification import Intent, Move
from ..domain.outcome import Accepted, Outcome, Rejected, Uncertain, safe
from ..domain.recovery import Evidence
from ..errors import Busy, DuebookError, StoreUnavailable
from ..ports import Database, Store

log = logging.getLogger("duebook.lane")

Says = Literal["accepted", "not_accepted", "rejected", "unknown"]


class Writer:
    """`passed_on`: told of a channel once something was moved to it."""

    def __init__(self, database: Database, store: Store) -> None:
        self.database = database
        self.store = store
        self.passed_on: Callable[[str], None] = lambda channel: None
        self.outcomes: list[tuple[Intent, Outcome, Move]] = []
        self.moves: list[Move] = []
        self.throttles: list[tuple[str, datetime, str, str]] = []
        self.relieved: str | None = None
        self.unsure: set[tuple[int, int]] = set()
        self.unstorable: dict[int, Exception] = {}
        self.suppressed: dict[int, str] = {}

    @property
    def pending(self) -> bool:
        return bool(self.outcomes or self.moves or self.throttles or self.relieved)

    async def flush(self, now: datetime) -> None:
        """Store everything pending.

        What is handed to the store and not taken stays pending: StoreUnavailable and Busy pass through.
        """
        while self.throttles:
            channel, until, reason, by = self.throttles[0]
            await self.database.ask(self.store.throttle(channel, until, reason, by, now))
            del self.throttles[0]
        if self.relieved is not None:
            await self.database.ask(self.store.relieve(self.relieved, now))
            self.relieved = None
        if self.outcomes:
            await self._settle(now)
        if self.moves:
            moves = list(self.moves)
            await self._apply(moves)
            del self.moves[: len(moves)]
            for channel in {move.channel for move in moves if move.channel is not None}:
                self.passed_on(channel)

    async def begin(self, channel: str, intents: Sequence[Intent], now: datetime) -> set[int]:
        """Put intents on record; answers the ids stored. One that cannot be stored is left in `unstorable`.

        After StoreUnavailable or Busy it is unknown which were stored; the caller then settles them as never sent.
        """
        try:
            # Who speaks for a conversation, or takes attention, must be settled in the transaction that begins.
            run = self.database.run if any(intent.cover or intent.taking for intent in intents) else self.database.ask
            begun = await run(self.store.begin(channel, intents, now))
            refused = [intent for intent in intents if intent.id not in begun and intent.address is not None]
            if refused:
                self.suppressed |= await self.database.ask(self.store.read_suppressed(channel, refused))
            return begun
        except (StoreUnavailable, Busy):
            self.unsure.update((intent.id, intent.number) for intent in intents)
            raise
        except Exception as error:  # noqa: BLE001 - whatever the driver says of one row must not stop the others
            if len(intents) == 1:
                self.unstorable[intents[0].id] = error
                return set()
            middle = len(intents) // 2
            first = await self.begin(channel, intents[:middle], now)
            return first | await self.begin(channel, intents[middle:], now)

    async def _settle(self, now: datetime) -> None:
        batch = list(self.outcomes)
        stored = await self._apply([move for _, _, move in batch])
        stale = [entry for entry in batch if (entry[2].id, entry[2].version) not in stored]
        late = [_evidence(intent, outcome, now) for intent, outcome, _ in stale if not self._is_unsure(intent)]
        if late:
            await self.database.ask(self.store.record_evidence(late))
        await self._hand_back([(intent, move) for intent, _, move in stale if self._is_unsure(intent)], now)
        if self.unsure:
            self.unsure.difference_update((intent.id, intent.number) for intent, _, _ in batch)
        del self.outcomes[: len(batch)]

    async def _hand_back(self, never: Sequence[tuple[Intent, Move]], now: datetime) -> None:
        """Hand back what is still ours as it was claimed, because its intent was never stored. Where that finds nothing
        either, the intent may have been stored between the two looks, so it is settled once more."""
        if not never:
            return
        backs = [give_back(intent.notification, now, intent.holder, move.reason or "") for intent, move in never]
        made = await self._apply(backs)
        again = [move for (_, move), back in zip(never, backs, strict=True) if (back.id, back.version) not in made]
        if again:
            await self._apply(again)

    def _is_unsure(self, intent: Intent) -> bool:
        return (intent.id, intent.number) in self.unsure

    async def _apply(self, moves: Sequence[Move]) -> set[tuple[int, int]]:
        """Make moves; answers (id, version) of those made. A lane that lost a notification and got it again may have
        two moves for it; they are tried one after the other."""
        made: set[tuple[int, int]] = set()
        while moves:
            first = {move.id: move for move in reversed(moves)}
            made |= await self._apply_batch(list(first.values()))
            moves = [move for move in moves if first[move.id] is not move]
        return made

    async def _apply_batch(self, moves: Sequence[Move]) -> set[tuple[int, int]]:
        try:
            stored = await self.database.run(self.store.apply(moves))
        except DuebookError:
            raise
        except Exception as error:
            if len(moves) == 1:
                log.exception("the store refuses the %s of notification %s", moves[0].event, moves[0].id)
                return {(moves[0].id, moves[0].version)}
            log.warning("the store refuses a batch of %s, which is halved: %s", len(moves), error)
            middle = len(moves) // 2
            return await self._apply_batch(moves[:middle]) | await self._apply_batch(moves[middle:])
        return {(move.id, move.version) for move in moves if move.id in stored}


def _evidence(intent: Intent, outcome: Outcome, now: datetime) -> Evidence:
    outcome = safe(outcome)
    says: Says = "not_accepted"
    if isinstance(outcome, Accepted):
        says = "accepted"
    elif isinstance(outcome, Rejected):
        says = "rejected"
    elif isinstance(outcome, Uncertain):
        says = "unknown"
    provider_id = outcome.provider_id if isinstance(outcome, Accepted) else None
    return Evidence(intent.id, intent.number, now, "late_report", says, provider_id, getattr(outcome, "reason", None))
