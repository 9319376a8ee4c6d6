"""Messages, watermarks and covers: what is unread, and which notification speaks for it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ....domain import deciding, unread
from ....domain.lifecycle import State
from ....domain.notification import Intent, Notification
from ....domain.policy import UnreadPolicy
from ....domain.unread import About, ReadUpTo, Seen, Told
from .clauses import Contract, Trial, clause
from .life import MAIL, email, retry, uncertain

ROOM = ("chat", "room")
PLACES = (None, "m2", 2, 9, "unknown")
"""Up to where somebody reads: everything, a message, a position, one beyond the end, and a message nobody posted."""


async def post(trial: Trial, *messages: str, author: str = "bob", recipients: Sequence[str] = ("ann",)) -> None:
    trial.declare("chat", unread=UnreadPolicy(after=timedelta(0)))
    for message in messages:
        await trial.book.unread.posted(*ROOM, message, author=author, recipients=recipients)


async def read(trial: Trial, up_to: str | int | None = None) -> int | None:
    message, position = (up_to, None) if isinstance(up_to, str) else (None, up_to)
    reading = ReadUpTo(*ROOM, "ann", message, position)
    plan = trial.store.mark_read(reading, unread.group(*ROOM, "ann"), "read", "ann", trial.now())
    return await trial.do(plan)


async def seen(trial: Trial, position: int = 1) -> Seen:
    found = await trial.do(trial.store.read_unread([About(7, *ROOM, "ann", position, f"m{position}")]))
    return found[7]


async def intend(trial: Trial, n: Notification) -> Intent:
    found = await trial.do(trial.store.read_unread([_about(n)]))
    intent = deciding.intend(n, found[n.id], email(), MAIL, trial.now(), "worker-1")
    assert isinstance(intent, Intent)
    return intent


def _about(n: Notification) -> About:
    found = unread.about(n)
    assert found is not None
    return found


class ReadingUpTo(Contract):
    """Messages, watermarks and covers."""

    @clause()
    async def test_messages_take_places_in_order_and_each_only_once(self, trial: Trial) -> None:
        now = trial.now()
        found = [
            await trial.do(trial.store.post_message(*ROOM, message, "bob", position, now))
            for message, position in (("a", None), ("b", None), ("a", None), ("c", 7), ("d", None), ("e", 7))
        ]
        assert found == [1, 2, None, 7, 8, None]
        assert await trial.do(trial.store.post_message("chat", "other", "a", "bob", None, now)) == 1

    @clause(*zip(PLACES, (3, 2, 2, 9, None), strict=True))
    async def test_a_watermark_goes_to_a_place_and_never_back(
        self, trial: Trial, up_to: str | int | None, expected: int | None
    ) -> None:
        await post(trial, "m1", "m2", "m3")
        assert await read(trial, up_to) == expected
        for again in (up_to, 1):
            assert await read(trial, again) == (1 if expected is None and again == 1 else None)
        assert (await seen(trial)).up_to == (expected or 1)

    @clause()
    async def test_reading_withdraws_what_is_pending_up_to_there_and_says_so(self, trial: Trial) -> None:
        await post(trial, "m1", "m2", "m3", recipients=["ann", "cid"])
        await read(trial, 2)
        states = [await trial.state(f"room/m{number}/ann", "chat") for number in (1, 2, 3)]
        assert states == [State.CANCELLED, State.CANCELLED, State.SCHEDULED]
        assert await trial.state("room/m1/cid", "chat") is State.SCHEDULED
        story = await trial.story("room/m1/ann", "chat")
        assert [(entry.event, entry.next, entry.reason) for entry in story.history] == [("cancel", "cancelled", "read")]

    @clause(State.SENDING, State.UNCERTAIN)
    async def test_what_may_be_on_its_way_keeps_the_wish(self, trial: Trial, state: State) -> None:
        await post(trial, "m1")
        (n,) = await trial.claim(kinds=("chat",))
        intent = await intend(trial, n)
        assert await trial.do(trial.store.begin("mail", [intent], trial.now())) == {n.id}
        if state is State.UNCERTAIN:
            await trial.settle(intent, uncertain())
        await read(trial)
        found = await trial.read(n.key, "chat")
        assert (found.state, found.cancel_request) == (state, "read")

    @clause()
    async def test_what_counts_is_unread_by_others_and_not_deleted(self, trial: Trial) -> None:
        await post(trial, "m1", "m2", "m3", "m4")
        await post(trial, "m5", author="eve", recipients=["ann"])
        assert await trial.do(trial.store.delete_message(*ROOM, "m3", trial.now()))
        assert not await trial.do(trial.store.delete_message(*ROOM, "m9", trial.now()))
        await read(trial, 1)
        found = await seen(trial, 3)
        assert (found.gone, found.up_to, found.last_position, found.total, found.fresh) == (True, 1, 5, 3, 3)

    @clause()
    async def test_a_cover_is_fenced_by_what_was_seen(self, trial: Trial) -> None:
        await post(trial, "m1", "m2")
        first, second = await trial.claim(kinds=("chat",))
        intents = [await intend(trial, n) for n in (first, second)]
        assert await trial.do(trial.store.begin("mail", intents[:1], trial.now())) == {first.id}
        assert await trial.do(trial.store.begin("mail", intents[1:], trial.now())) == set()
        later = await intend(trial, second)
        await read(trial, 1)
        assert await trial.do(trial.store.begin("mail", [later], trial.now())) == set()

    @clause()
    async def test_what_was_told_and_what_may_have_been_are_told_apart(self, trial: Trial) -> None:
        await post(trial, "m1", "m2")
        first, _ = await trial.claim(kinds=("chat",))
        intent = await intend(trial, first)
        await trial.do(trial.store.begin("mail", [intent], trial.now()))
        found = await seen(trial, 2)
        assert (found.told, [(one.id, one.to, one.state) for one in found.open]) == (
            None, [(first.id, 2, State.SENDING)],
        )  # fmt: skip
        await trial.settle(intent, uncertain())
        await post(trial, "m3")
        found = await seen(trial, 2)
        assert ([(one.to, one.doubt) for one in found.open], found.total, found.fresh) == ([(2, 1)], 3, 1)
        await trial.book.resolve("chat", first.key, "sent", reason="she showed it")
        found = await seen(trial, 2)
        assert (found.told, found.open, found.fresh) == (Told(2, first.key), [], 1)

    @clause()
    async def test_what_was_provably_not_sent_has_told_nothing(self, trial: Trial) -> None:
        await post(trial, "m1", "m2")
        first, _ = await trial.claim(kinds=("chat",))
        intent = await intend(trial, first)
        await trial.do(trial.store.begin("mail", [intent], trial.now()))
        await trial.settle(intent, retry())
        found = await seen(trial, 2)
        assert (found.told, found.open, found.total, found.fresh) == (None, [], 2, 2)
