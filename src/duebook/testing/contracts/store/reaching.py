"""People and their wishes, what providers say later, and addresses that are written to no more."""

from __future__ import annotations

from dataclasses import replace
from datetime import time
from typing import Any

from ....domain.lifecycle import State
from ....domain.outcome import Accepted
from ....domain.people import Person, QuietHours
from ....domain.receipt import Receipt, Referred, Suppression
from .clauses import Contract, Trial, clause
from .life import uncertain

ANN = "ann@example.org"
EVERYTHING = Suppression("mail", ANN, "everything", "it bounced for good")


def receipt(trial: Trial, id: str = "e-1", **changes: Any) -> Receipt:
    return replace(
        Receipt("resend", id, "bounced", trial.now(), "p-1", "7.abcdefab", ANN, True, "550 5.1.1"), **changes
    )


class Reaching(Contract):
    """The verbs of people, receipts and suppressions, and the fence of `begin` that heeds the last."""

    @clause()
    async def test_a_person_comes_back_as_noted_and_the_next_note_takes_its_place(self, trial: Trial) -> None:
        whole = Person(
            "ann", "Europe/Kyiv", "uk", {"mail": ANN, "push": "Zoë's 📱"}, "push", QuietHours(time(22), time(6, 30)),
            (), trial.now(),
        )  # fmt: skip
        await trial.do(trial.store.put_person(whole, "app", trial.now()))
        assert await trial.do(trial.store.read_people(["ann", "bob"])) == {"ann": whole}
        bare = Person("ann", changed_at=trial.advance(5))
        await trial.do(trial.store.put_person(bare, "app", trial.now()))
        assert await trial.do(trial.store.read_people(["ann"])) == {"ann": bare}

    @clause()
    async def test_an_opt_out_is_new_once_and_lifted_by_its_own_scope(self, trial: Trial) -> None:
        for new in (True, False):
            assert await trial.do(trial.store.opt_out("ann", "kind:mail", "she said so", "app", trial.now())) is new
        await trial.do(trial.store.opt_out("ann", "everything", "she said so", "app", trial.now()))
        known = await trial.do(trial.store.read_people(["ann"]))
        assert sorted(known["ann"].opted_out) == ["everything", "kind:mail"]
        assert known["ann"].changed_at is None
        assert await trial.do(trial.store.opt_in("ann", "kind:chat")) is False
        for scope in ("everything", "kind:mail"):
            assert await trial.do(trial.store.opt_in("ann", scope)) is True
        assert await trial.do(trial.store.read_people(["ann"])) == {}

    @clause()
    async def test_the_same_receipt_twice_is_one(self, trial: Trial) -> None:
        first, other = receipt(trial), receipt(trial, "e-2", provider="ses")
        assert await trial.do(trial.store.put_receipts([first], trial.now())) == {("resend", "e-1")}
        again = [replace(first, event="delivered"), other]
        assert await trial.do(trial.store.put_receipts(again, trial.now())) == {("ses", "e-2")}
        kept = await trial.do(trial.store.lock_unmatched_receipts(trial.at(-1), 10))
        assert sorted(kept, key=lambda one: one.id) == [first, other]

    @clause()
    async def test_a_receipt_waits_for_its_match_and_not_for_ever(self, trial: Trial) -> None:
        before = trial.now()
        trial.advance(1)
        first, later = receipt(trial), receipt(trial, "e-2")
        await trial.do(trial.store.put_receipts([first], trial.now()))
        trial.advance(1)
        await trial.do(trial.store.put_receipts([later], trial.now()))
        assert await trial.do(trial.store.lock_unmatched_receipts(before, 1)) == [first]
        assert await trial.do(trial.store.lock_unmatched_receipts(trial.at(-1), 10)) == [later]
        n = await trial.bring("a", State.ACCEPTED)
        (attempt,) = await trial.do(trial.store.read_referred_attempts([n.id], []))
        await trial.do(trial.store.match_receipts([(first, attempt)]))
        assert await trial.do(trial.store.lock_unmatched_receipts(before, 10)) == [later]
        assert await trial.do(trial.store.read_receipts(n.id)) == [(1, first)]
        assert (await trial.story("a")).receipts == [(1, first)]

    @clause()
    async def test_attempts_are_found_by_notification_and_by_the_providers_name(self, trial: Trial) -> None:
        done = await trial.sending("a")
        await trial.settle(done, Accepted("p-1"))
        doubted = await trial.sending("b")
        await trial.settle(doubted, uncertain())
        wired = await trial.sending("c")

        def referred(id: int, key: str, provider_id: str | None, outcome: str | None) -> Referred:
            return Referred(id, 1, trial.now(), provider_id, "mail", outcome, "test", "mail", key)

        expected = [
            referred(done.id, "a", "p-1", "accepted"),
            referred(doubted.id, "b", None, "uncertain"),
            referred(wired.id, "c", None, None),
        ]
        ids = [done.id, doubted.id, wired.id, 999]
        assert await trial.do(trial.store.read_referred_attempts(ids, [])) == expected
        assert await trial.do(trial.store.read_referred_attempts([], ["p-1", "p-9"])) == expected[:1]
        assert await trial.do(trial.store.read_referred_attempts([done.id], ["p-1"])) == expected[:1]

    @clause(
        (EVERYTHING, False),
        (replace(EVERYTHING, scope="mail"), False),
        (replace(EVERYTHING, scope="chat"), True),
        (replace(EVERYTHING, channel="push"), True),
        (replace(EVERYTHING, address="bob@example.org"), True),
    )
    async def test_begin_is_fenced_by_what_is_suppressed(self, trial: Trial, one: Suppression, begins: bool) -> None:
        n = await trial.claimed("a")
        await trial.do(trial.store.suppress([one], "app", trial.now()))
        assert bool(await trial.begin(n)) is begins

    @clause()
    async def test_it_says_why_something_may_not_be_sent(self, trial: Trial) -> None:
        (intent,) = await trial.begin(await trial.claimed("a"))
        assert await trial.do(trial.store.read_suppressed("mail", [intent])) == {}
        await trial.do(trial.store.suppress([EVERYTHING], "app", trial.now()))
        assert await trial.do(trial.store.read_suppressed("mail", [intent])) == {intent.id: "it bounced for good"}
        assert await trial.do(trial.store.read_suppressed("push", [intent])) == {}

    @clause()
    async def test_the_first_reason_stays_until_it_is_lifted(self, trial: Trial) -> None:
        narrow = replace(EVERYTHING, scope="mail", reason="she complained")
        first = trial.now()
        assert await trial.do(trial.store.suppress([EVERYTHING, narrow], "app", first)) == 2
        trial.advance(5)
        assert await trial.do(trial.store.suppress([replace(EVERYTHING, reason="again")], "ops", trial.now())) == 0
        found = await trial.do(trial.store.search_suppressions({}, ("", "", ""), 10))
        assert [(one.suppression, one.at, one.by) for one in found] == [
            (EVERYTHING, first, "app"), (narrow, first, "app"),
        ]  # fmt: skip
        assert await trial.do(trial.store.unsuppress("mail", ANN, "mail")) == 1
        assert await trial.do(trial.store.unsuppress("mail", ANN, None)) == 1
        assert await trial.do(trial.store.unsuppress("mail", ANN, None)) == 0

    @clause()
    async def test_suppressions_are_searched_page_by_page(self, trial: Trial) -> None:
        several = [
            Suppression(channel, address, scope, "why")
            for channel in ("mail", "push")
            for address in ("ann", "bob")
            for scope in ("everything", "mail")
        ]
        await trial.do(trial.store.suppress(several, "app", trial.now()))
        after, found = ("", "", ""), []
        while page := await trial.do(trial.store.search_suppressions({}, after, 3)):
            found += [one.suppression for one in page]
            after = (found[-1].channel, found[-1].address, found[-1].scope)
        assert found == several
        only = await trial.do(trial.store.search_suppressions({"channel": "push", "address": "bob"}, ("", "", ""), 10))
        assert [one.suppression for one in only] == several[-2:]

    @clause()
    async def test_who_is_forgotten_leaves_no_address_behind(self, trial: Trial) -> None:
        n = await trial.bring("a", State.ACCEPTED)
        said = receipt(trial)
        (attempt,) = await trial.do(trial.store.read_referred_attempts([n.id], []))
        await trial.do(trial.store.put_receipts([said], trial.now()))
        await trial.do(trial.store.match_receipts([(said, attempt)]))
        await trial.do(trial.store.put_person(Person("ann", addresses={"mail": ANN}), "app", trial.now()))
        await trial.do(trial.store.opt_out("ann", "kind:mail", "she said so", "app", trial.now()))
        await trial.do(trial.store.forget("ann", "forgotten-1"))
        assert await trial.do(trial.store.read_people(["ann", "forgotten-1"])) == {}
        ((_, left),) = await trial.do(trial.store.read_receipts(n.id))
        assert (left.event, left.address, left.detail) == ("bounced", None, "")
