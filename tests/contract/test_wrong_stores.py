"""The contract of a store catches one that breaks it: in each of these a single verb is wrong."""

import unittest
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from duebook.domain.deadlines import Deadline
from duebook.domain.draft import Draft
from duebook.domain.lifecycle import State
from duebook.domain.notification import Intent, Move, Notification
from duebook.domain.policy import Kind
from duebook.domain.receipt import Receipt, Referred
from duebook.domain.recovery import Evidence
from duebook.domain.schedules import Schedule
from duebook.ports import Database, Plan, Store
from duebook.stores.sqlite.database import SqliteDatabase
from duebook.stores.store import SqlStore
from duebook.testing.contracts.store import StoreContract

A_DAY = timedelta(days=1)


class Kept(StoreContract):
    store: Store = SqlStore()

    @asynccontextmanager
    async def empty(self) -> AsyncIterator[tuple[Database, Store]]:
        database = SqliteDatabase(":memory:")
        try:
            await database.migrate()
            yield database, self.store
        finally:
            await database.close()


class AnswersExisting(SqlStore):
    def schedule(self, drafts: Sequence[Draft]) -> Plan[dict[tuple[str, str], int]]:
        yield from super().schedule(drafts)
        return {(draft.kind, draft.key): 1 for draft in drafts}


class ClaimsAll(SqlStore):
    def claim(
        self, channel: str, kinds: Collection[str], limits: Sequence[int], *rest: Any
    ) -> Plan[list[Notification]]:
        return (yield from super().claim(channel, kinds, (100, 100, 100), *rest))


class BeginsLate(SqlStore):
    def begin(self, channel: str, intents: Sequence[Intent], now: datetime) -> Plan[set[int]]:
        early = [intent._replace(at=intent.at - A_DAY) for intent in intents]
        return (yield from super().begin(channel, early, now))


class KeepsAllLeases(SqlStore):
    def extend(self, held: Sequence[tuple[int, int]], now: datetime, lease_until: datetime) -> Plan[set[int]]:
        yield from super().extend(held, now, lease_until)
        return {id for id, _ in held}


class SaysThatAllWasApplied(SqlStore):
    def apply(self, moves: Sequence[Move]) -> Plan[dict[int, State]]:
        yield from super().apply(moves)
        return {move.id: move.next for move in moves}


class DropsWishes(SqlStore):
    def request_cancel(self, wishes: Mapping[int, str]) -> Plan[None]:
        yield from super().request_cancel({})


class DropsEvidence(SqlStore):
    def record_evidence(self, evidence: Sequence[Evidence]) -> Plan[None]:
        yield from super().record_evidence(())


class GrantsAnyRate(SqlStore):
    def take_rate(self, channel: str, wanted: int, rate: float, by: str, now: datetime) -> Plan[tuple[int, datetime]]:
        yield from super().take_rate(channel, wanted, rate, by, now)
        return wanted, now


class PrunesTooEarly(SqlStore):
    def prune(self, kind: Kind, now: datetime, limit: int) -> Plan[int]:
        return (yield from super().prune(kind, now + A_DAY, limit))


class ForgetsNobody(SqlStore):
    def forget(self, recipient: str, alias: str) -> Plan[int]:
        return (yield from super().forget(alias, alias))


class AdvancesWhateverItRead(SqlStore):
    def advance_schedules(self, schedules: Sequence[Schedule]) -> Plan[set[str]]:
        there = yield from self.lock_schedules([one.name for one in schedules])
        return (
            yield from super().advance_schedules([replace(one, version=there[one.name].version) for one in schedules])
        )


class SeesToEveryKind(SqlStore):
    def lock_due_schedules(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Schedule]]:
        return (yield from super().lock_due_schedules([*kinds, "other"], now, limit))


class LosesTheTerm(SqlStore):
    def change_deadlines(self, deadlines: Sequence[Deadline]) -> Plan[None]:
        yield from super().change_deadlines([replace(one, term=1) for one in deadlines])


class WritesToWhatIsSuppressed(SqlStore):
    def begin(self, channel: str, intents: Sequence[Intent], now: datetime) -> Plan[set[int]]:
        return (yield from super().begin(channel, [intent._replace(address=None) for intent in intents], now))


class TakesWhateverAttentionIsWanted(SqlStore):
    def take_attention(self, intents: Sequence[Intent]) -> Plan[set[int]]:
        yield from super().take_attention(intents)
        return {intent.id for intent in intents}


class LetsEverybodyTry(SqlStore):
    def take_probe(self, channel: str, holder: str, now: datetime, until: datetime) -> Plan[bool]:
        yield from super().take_probe(channel, holder, now, until)
        return True


class KeepsNoReceipt(SqlStore):
    def match_receipts(self, matches: Sequence[tuple[Receipt, Referred]]) -> Plan[None]:
        yield from super().match_receipts([])


@pytest.mark.parametrize(
    ("store", "clause"),
    [
        (AnswersExisting, "test_an_identity_that_exists_is_left_alone_and_not_answered"),
        (ClaimsAll, "test_each_class_yields_its_oldest_up_to_its_limit"),
        (BeginsLate, "test_begin_is_fenced_by_a_lease_that_still_runs"),
        (KeepsAllLeases, "test_a_lease_that_ran_out_or_was_taken_is_not_extended"),
        (SaysThatAllWasApplied, "test_a_stale_worker_learns_which_of_its_writes_held"),
        (DropsWishes, "test_a_cancel_that_came_too_late_is_honoured_on_every_way_back"),
        (DropsEvidence, "test_the_same_evidence_twice_is_one_row"),
        (GrantsAnyRate, "test_a_rate_is_never_exceeded_and_is_used_up"),
        (PrunesTooEarly, "test_each_part_goes_at_its_own_age"),
        (ForgetsNobody, "test_a_forgotten_person_leaves_the_fact"),
        (AdvancesWhateverItRead, "test_a_write_is_fenced_by_the_version_it_was_made_from"),
        (SeesToEveryKind, "test_only_what_is_due_of_the_kinds_asked_for_is_answered_the_oldest_first"),
        (LosesTheTerm, "test_a_change_writes_everything_but_its_birth"),
        (WritesToWhatIsSuppressed, "test_begin_is_fenced_by_what_is_suppressed"),
        (TakesWhateverAttentionIsWanted, "test_of_two_that_knew_the_same_one_begins"),
        (LetsEverybodyTry, "test_one_worker_tries_out_a_channel_that_has_rested"),
        (KeepsNoReceipt, "test_a_receipt_waits_for_its_match_and_not_for_ever"),
    ],
)
def test_a_wrong_store_fails(store: type[SqlStore], clause: str) -> None:
    contract = Kept()
    getattr(contract, clause)()
    contract.store = store()
    with pytest.raises(AssertionError):
        getattr(contract, clause)()


def test_a_failure_names_the_case_and_shows_what_was_compared() -> None:
    contract = Kept()
    contract.store = BeginsLate()
    with pytest.raises(AssertionError, match="assert True is False") as caught:
        contract.test_begin_is_fenced_by_a_lease_that_still_runs()
    assert caught.value.__notes__ == ["in the case (15.0, False)"]


def test_it_needs_no_pytest() -> None:
    """As unittest finds and runs it."""

    class Here(Kept, unittest.TestCase):
        pass

    suite = unittest.TestSuite([Here("test_a_claim_holds_under_a_lease_and_a_holder")])
    assert len(unittest.defaultTestLoader.getTestCaseNames(Here)) > 60
    result = unittest.TestResult()
    suite.run(result)
    assert result.testsRun == 1
    assert result.wasSuccessful(), result.failures + result.errors
