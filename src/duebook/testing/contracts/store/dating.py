"""Deadlines with their terms, local promises under other zone rules, and which database this is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from ....domain.deadlines import Deadline
from ....domain.walltime import Promise
from .clauses import Contract, Trial, clause

HOUR = timedelta(hours=1)


class Dating(Contract):
    """The verbs of deadlines, and those about time."""

    @clause()
    async def test_a_deadline_is_put_once_and_comes_back_as_it_is(self, trial: Trial) -> None:
        one = a_deadline(trial, tenant="acme", wall="2027-03-15T17:30", zone="America/New_York")
        await trial.do(trial.store.put_deadlines([one]))
        await trial.do(trial.store.put_deadlines([a_deadline(trial, recipient="bob"), a_deadline(trial, "e")]))
        names = [("mail", "e"), ("mail", "d"), ("other", "d")]
        for verb in (trial.store.lock_deadlines, trial.store.read_deadlines):
            assert await trial.do(verb(names)) == {("mail", "d"): one, ("mail", "e"): a_deadline(trial, "e")}

    @clause()
    async def test_a_change_writes_everything_but_its_birth(self, trial: Trial) -> None:
        await trial.do(trial.store.put_deadlines([a_deadline(trial), a_deadline(trial, "e")]))
        changed = replace(
            a_deadline(trial), recipient="bob", tenant="acme", data='{"n":1}', wall="2028-01-01", zone="Asia/Tokyo",
            ends_at=trial.now() + HOUR, term=2, first_term=1, state="completed", reason="paid",
            changed_at=trial.now() + HOUR, changed_by="bob",
        )  # fmt: skip
        await trial.do(trial.store.change_deadlines([changed]))
        found = await trial.do(trial.store.read_deadlines([("mail", "d"), ("mail", "e")]))
        assert replace(found["mail", "d"], data=changed.data) == changed
        assert found["mail", "e"] == a_deadline(trial, "e")

    @clause()
    async def test_pages_of_deadlines_go_by_kind_and_key(self, trial: Trial) -> None:
        names = [("mail", "b"), ("mail", "a"), ("note", "a")]
        await trial.do(trial.store.put_deadlines([a_deadline(trial, key, kind=kind) for kind, key in names]))
        await trial.do(trial.store.put_deadlines([a_deadline(trial, "z", recipient="bob", state="completed")]))
        for after, filters, limit, wanted in [
            (("", ""), {}, 2, ["a", "b"]),
            (("mail", "b"), {}, 9, ["z", "a"]),
            (("", ""), {"kind": "note"}, 9, ["a"]),
            (("", ""), {"recipient": "bob"}, 9, ["z"]),
            (("", ""), {"state": "open"}, 9, ["a", "b", "a"]),
        ]:
            assert [one.key for one in await trial.do(trial.store.list_deadlines(after, filters, limit))] == wanted

    @clause()
    async def test_only_local_promises_to_come_of_other_rules_are_looked_at_again(self, trial: Trial) -> None:
        for key, due, tzdata in [("old", 60, "1999a"), ("new", 60, "2026f"), ("due", 0, "1999a")]:
            due_at = trial.at(due)
            promise = Promise(due_at, due_at.replace(tzinfo=None).isoformat(), "UTC", "compatible", tzdata)
            await trial.do(trial.store.schedule([trial.draft(key, promise=promise, wake_at=due_at)]))
        await trial.schedule("instant", due=60)
        (found,) = await trial.do(trial.store.lock_retimable("2026f", 0, trial.now(), 9))
        assert found.key == "old"
        assert await trial.do(trial.store.lock_retimable("2026f", found.id, trial.now(), 9)) == []
        await trial.do(trial.store.confirm_rules([found.id], "2026f"))
        assert await trial.do(trial.store.lock_retimable("2026f", 0, trial.now(), 9)) == []
        assert (await trial.read("old")).version == found.version

    @clause()
    async def test_open_ones_of_several_groups_are_found_together(self, trial: Trial) -> None:
        trial.declare()
        for key, group in [("a", "g"), ("b", "h"), ("c", "other"), ("d", None)]:
            await trial.schedule(key, due=60, group=group)
        await trial.book.cancel("mail", "b")
        assert [n.key for n in await trial.do(trial.store.lock_groups(["g", "h"], 9))] == ["a"]

    @clause()
    async def test_there_is_one_identity_of_the_database_and_the_last_one_holds(self, trial: Trial) -> None:
        assert await trial.do(trial.store.read_incarnation()) is None
        for identity in ("first", "first", "second"):
            trial.advance(1)
            await trial.do(trial.store.write_incarnation(identity, trial.now()))
        assert await trial.do(trial.store.read_incarnation()) == ("second", trial.now())


def a_deadline(trial: Trial, key: str = "d", **changes: Any) -> Deadline:
    stated: dict[str, Any] = {
        "kind": "mail", "key": key, "recipient": "ann", "tenant": None, "namespace": "test", "data": "{}",
        "wall": "2027-03-15", "zone": "Europe/Berlin", "ends_at": trial.now() + 70 * 24 * HOUR, "term": 1,
        "first_term": 1, "state": "open", "reason": None, "created_at": trial.now(), "changed_at": trial.now(),
        "changed_by": "app",
    }  # fmt: skip
    return Deadline(**{**stated, **changes})
