"""Items, periods and digests: what is frozen into which, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from ....domain import digests
from ....domain.digests import Closed, Closing, Cursor, Weighed
from ....domain.lifecycle import Event, State
from ....domain.policy import DigestPolicy, Kind
from .clauses import Contract, Trial, clause
from .life import moved

HOUR = timedelta(hours=1)
HOURLY = DigestPolicy(limit=2)


async def add(trial: Trial, *items: str, recipient: str = "ann", **options: Any) -> None:
    trial.kinds.setdefault("news", Kind("news", "mail", digest=HOURLY))
    for item in items:
        await trial.book.digests.add("news", recipient, item, **options)


async def due(trial: Trial) -> list[Cursor]:
    return await trial.do(trial.store.lock_due_cursors(["news"], trial.now(), 100))


def closing(cursor: Cursor, now: datetime, policy: DigestPolicy = HOURLY) -> Closing:
    found = digests.closing(cursor, policy, digests.come(cursor, policy, now), now)
    assert found is not None
    return found


async def close(trial: Trial, policy: DigestPolicy = HOURLY) -> tuple[Weighed, int]:
    """Close the one period that has come; answers what it took and left, and its notification."""
    (cursor,) = await due(trial)
    one, now = closing(cursor, trial.now(), policy), trial.now()
    weighed = (await trial.do(trial.store.take_items([one], now)))["news", "ann"]
    ids = await trial.do(trial.store.schedule([digests.draft(one, Kind("news", "mail", digest=policy), now)]))
    (id,) = ids.values()
    await trial.do(trial.store.put_digests([Closed(one, weighed, id)], now))
    cutoffs = digests.come(cursor, policy, now)
    await trial.do(trial.store.move_cursors([digests.moved_on(cursor, policy, cutoffs, weighed, now)]))
    return weighed, id


async def held(trial: Trial, id: int) -> Sequence[str]:
    found = await trial.do(trial.store.read_selections([id]))
    return [one.item for one in found[id].items]


async def waiting(trial: Trial) -> Sequence[str]:
    return [one.item for one in await trial.do(trial.store.read_waiting_items("news", "ann", 100))]


class Gathering(Contract):
    """Items, periods and digests."""

    @clause()
    async def test_an_item_is_new_once_for_each_recipient_and_kind(self, trial: Trial) -> None:
        await add(trial, "a", "b")
        answers = [await trial.book.digests.add("news", who, "a") for who in ("ann", "bob")]
        assert [answer.created for answer in answers] == [False, True]

    @clause()
    async def test_a_cursor_says_when_the_first_period_with_something_in_it_ends(self, trial: Trial) -> None:
        start = trial.now().replace(minute=0, second=0, microsecond=0)
        await add(trial, "late", ready_at=start + 3 * HOUR)
        await add(trial, "early", ready_at=start + HOUR)
        cursors = await trial.do(trial.store.read_cursors(start + 9 * HOUR, "news", None, 10))
        assert [(one.open_from, one.next_close_at) for one in cursors] == [(start + HOUR, start + 2 * HOUR)]
        assert await due(trial) == []
        trial.advance(2 * HOUR.total_seconds())
        assert [one.recipient for one in await due(trial)] == ["ann"]
        assert await trial.do(trial.store.lock_due_cursors(["other"], trial.now(), 100)) == []

    @clause()
    async def test_the_highest_scores_are_frozen_and_equal_ones_by_code_point(self, trial: Trial) -> None:
        for item, score in (("a", 1), ("é", 1), ("B", 1), ("z", 3)):
            await add(trial, item, score=score)
        trial.advance(HOUR.total_seconds())
        weighed, id = await close(trial)
        assert (weighed.selected, weighed.left) == (2, 2)
        assert await held(trial, id) == ["z", "B"]
        await add(trial, "later", score=9, ready_at=trial.now() - HOUR)
        assert (await held(trial, id), await waiting(trial)) == (["z", "B"], ["later", "a", "é"])

    @clause()
    async def test_what_is_ready_at_the_cutoff_is_of_the_next_period(self, trial: Trial) -> None:
        start = trial.now().replace(minute=0, second=0, microsecond=0)
        await add(trial, "at", ready_at=start + HOUR)
        await add(trial, "before", ready_at=start + HOUR - timedelta(microseconds=1))
        trial.advance(HOUR.total_seconds())
        weighed, id = await close(trial)
        assert (await held(trial, id), weighed.left, weighed.later_from) == (["before"], 0, start + HOUR)

    @clause()
    async def test_a_late_item_is_counted_as_late(self, trial: Trial) -> None:
        start = trial.now().replace(minute=0, second=0, microsecond=0)
        trial.advance(HOUR.total_seconds())
        await add(trial, "late", ready_at=start)
        await add(trial, "fresh")
        trial.advance(HOUR.total_seconds())
        weighed, _ = await close(trial)
        assert (weighed.selected, weighed.late) == (2, 1)

    @clause()
    async def test_what_has_expired_is_part_of_no_digest(self, trial: Trial) -> None:
        policy = DigestPolicy(limit=2, expire_after=HOUR / 2)
        trial.kinds["news"] = Kind("news", "mail", digest=policy)
        start = trial.now().replace(minute=0, second=0, microsecond=0)
        await add(trial, "old", ready_at=start)
        await add(trial, "new", ready_at=start + HOUR - timedelta(minutes=1))
        trial.advance(HOUR.total_seconds())
        weighed, id = await close(trial, policy)
        assert (await held(trial, id), weighed.selected + weighed.left) == (["new"], 1)
        found = await trial.do(trial.store.read_item("news", "ann", "old"))
        assert found is not None
        assert found.outcome == "expired"

    @clause(("carry", Event.SKIP), ("undelivered", Event.SKIP), ("carry", Event.CANCEL))
    async def test_items_of_one_that_ended_unsent_wait_again_or_are_undelivered(
        self, trial: Trial, unsent: Any, event: Event
    ) -> None:
        policy = DigestPolicy(limit=2, unsent=unsent)
        await add(trial, "a", "b")
        trial.advance(HOUR.total_seconds())
        _, id = await close(trial, policy)
        (n,) = await trial.claim(kinds=("news",))
        assert await trial.apply(moved(n, event, trial.now(), reason="not today"))
        assert await waiting(trial) == (["a", "b"] if unsent == "carry" else [])
        (record,) = await trial.do(trial.store.find_digests("news", "ann", 2**62, 10))
        assert (record.notification_id, record.outcome) == (id, "released" if unsent == "carry" else "undelivered")
        counted = await trial.do(trial.store.count_undelivered())
        assert counted == ({} if unsent == "carry" else {"news": (1, 2)})
        assert [one.recipient for one in await due(trial)] == (["ann"] if unsent == "carry" else [])

    @clause()
    async def test_items_that_were_accepted_stay_where_they_are(self, trial: Trial) -> None:
        await add(trial, "a")
        trial.advance(HOUR.total_seconds())
        _, id = await close(trial)
        (n,) = await trial.claim(kinds=("news",))
        (intent,) = await trial.begin(n)
        sent = moved(intent, Event.ACCEPT, trial.now(), basis="reported")
        assert await trial.apply(sent) == {id: State.ACCEPTED}
        assert (await held(trial, id), await waiting(trial), await due(trial)) == (["a"], [], [])
