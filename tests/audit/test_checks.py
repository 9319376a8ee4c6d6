"""Each invariant, broken alone, is found alone."""

import pytest

from duebook.domain.audit import CHECKS
from duebook.engine.auditor import SWEEPS
from tests.audit.support import LATER, LONG_AGO, audited, of, populate
from tests.audit.test_gathered import BROKEN as BROKEN_GATHERED
from tests.audit.test_reached import BROKEN as BROKEN_REACHED
from tests.audit.test_times import BROKEN as BROKEN_TIMES
from tests.support.worlds import World

IN_BOTH = pytest.mark.parametrize("world", ["memory", "postgres"], indirect=True)


def row(key: str, change: str) -> str:
    return f"update @notifications set {change} where key = '{key}'"


def attempt(key: str, change: str, number: int = 1) -> str:
    return f"update @attempts set {change} where notification_id = {of(key)} and number = {number}"


def entered(key: str, number: int, outcome: str) -> str:
    return f"""
        insert into @attempts (notification_id, number, channel, begun_at, ended_at, holder, outcome)
        values ({key}, {number}, 'mail', '{LONG_AGO}', '{LONG_AGO}', 'w', '{outcome}')"""


BROKEN = {
    "identity_points_back": [
        ("delete from @identities where key = 'scheduled'", "it has no identity"),
        ("update @identities set recipient = 'eve' where key = 'accepted'", "another recipient"),
    ],
    "identity_remembers": [("delete from @notifications where key = 'scheduled'", "nothing is remembered")],
    "state_has_its_instant": [
        (row("scheduled", "wake_at = null"), "scheduled needs wake_at alone, and has none"),
        (row("accepted", f"review_at = '{LATER}'"), "has review_at, closed_at"),
        (row("sending", f"attention_at = '{LATER}'"), "sending needs lease_until alone"),
    ],
    "state_has_its_grounds": [
        (row("sending", "message = null"), "on the wire without a message"),
        (row("accepted", "basis = null"), "accepted with no basis"),
        (row("scheduled", "basis = 'ruled'"), "scheduled with basis ruled"),
        (row("scheduled", "wanted = 'skipped'"), "still wants to be skipped"),
    ],
    "end_has_its_reason": [
        (row("skipped", "reason = null"), "skipped and says no reason"),
        (row("review", "reason = ''"), "review and says no reason"),
    ],
    "lease_has_its_holder": [
        (row("claimed", "holder = null"), "held by nobody"),
        (row("accepted", "holder = 'ghost'"), "still held by ghost"),
    ],
    "lease_is_rescued": [(row("claimed", f"lease_until = '{LONG_AGO}'"), "nobody took it back")],
    "history_is_lawful": [
        (
            f"update @history set event = 'accept' where notification_id = {of('redriven')} and version = 3",
            "version 3: claimed accept review is no move",
        )
    ],
    "history_is_chained": [
        (
            f"delete from @history where notification_id = {of('redriven')} and version = 3",
            "from scheduled at version 1 to review at version 3",
        ),
        (row("accepted", "version = version + 1"), "no way leads from scheduled at version 1 to accepted at version 5"),
        (row("accepted", "version = version + 3"), "its versions tell of 2 attempts that ended, its ledger of 1"),
        (row("claimed", "version = 3"), "no way leads from scheduled at version 1 to claimed at version 3"),
    ],
    "last_move_is_recorded": [
        (row("cancelled", "event = 'skip'"), "says skip to cancelled, the history cancel to cancelled"),
        (row("scheduled", "event = 'repeat'"), "at its first version"),
        (f"delete from @history where notification_id = {of('skipped')}", "the history has nothing at 3"),
        (row("redriven", "version = version - 1"), "the history has nothing at 4"),
    ],
    "attempts_are_gapless": [
        (f"delete from @attempts where notification_id = {of('again')} and number = 1", "the ledger has 2"),
        (f"delete from @attempts where notification_id = {of('accepted')}", "the ledger has none"),
        (entered(of("sending"), 1, "retry"), "no attempt has ended, the ledger has 1"),
    ],
    "doubt_is_counted": [
        (row("uncertain", "doubt = 0"), "0 attempts are in doubt, the ledger says 1"),
        (attempt("permitted", "resolution = 'not_accepted'"), "1 attempts are in doubt, the ledger says 0"),
    ],
    "outcome_fits_the_state": [
        (attempt("accepted", "outcome = 'rejected'"), "these were accepted: none"),
        (attempt("again", "outcome = 'accepted'"), "these were accepted: 1, 2"),
        (attempt("refused", "outcome = 'accepted'"), "review, and of its attempts these were accepted: 1"),
        (attempt("refused", "resolution = 'accepted'"), "evidence says that an attempt was accepted"),
        (attempt("uncertain", "outcome = 'lost'"), "it says time_out, and its last attempt came to lost"),
    ],
    "retention_is_kept": [
        (row("accepted", "pruned = 2, message = null"), "its ledger was let go of, and is still there"),
        (row("cancelled", "pruned = 1, data = '{\"a\": 1}'"), "its data was let go of"),
        (row("scheduled", "pruned = 2"), "scheduled, and its ledger was let go of"),
    ],
    "nothing_is_overdue": [(row("scheduled", f"wake_at = '{LONG_AGO}'"), "2030-01-06 12:00:00 UTC; nothing is paused")],
    "ledger_has_its_notification": [
        (entered("999", 1, "retry"), "has 1 attempts"),
        (
            f"insert into @history values (999, 2, '{LONG_AGO}', 'me', 'cancel', 'scheduled', 'cancelled', 'because')",
            "1 rows of history",
        ),
        (
            "insert into @evidence (notification_id, number, source, says, at)"
            f" values (999, 1, 'receipt', 'accepted', '{LONG_AGO}')",
            "1 rows of evidence",
        ),
    ],
}
CASES = [
    pytest.param(check, sql, said, id=f"{check}-{number}")
    for check, cases in BROKEN.items()
    for number, (sql, said) in enumerate(cases)
]


@IN_BOTH
@pytest.mark.parametrize(("check", "sql", "said"), CASES)
async def test_a_broken_invariant_is_found_and_nothing_else(
    defenceless: World, check: str, sql: str, said: str
) -> None:
    await populate(defenceless)
    assert (await audited(defenceless)).clean
    defenceless.shell.run(sql)
    report = await audited(defenceless)
    assert [(violation.check, said in violation.found) for violation in report.violations] == [(check, True)], report


def test_each_check_is_broken_somewhere() -> None:
    names = {check.__name__ for sweep in SWEEPS for check in sweep.checks}
    assert set(CHECKS) <= set(SWEEPS[0].checks)
    assert names == set(BROKEN) | set(BROKEN_TIMES) | set(BROKEN_REACHED) | set(BROKEN_GATHERED)


@IN_BOTH
async def test_evidence_is_a_ground_only_where_it_is_there(defenceless: World) -> None:
    await populate(defenceless)
    id = defenceless.shell.value(f"select {of('accepted')}")
    defenceless.shell.run(row("accepted", "basis = 'evidence'"))
    defenceless.shell.run(attempt("accepted", "outcome = 'uncertain', resolution = 'rejected'"))
    (violation,) = (await audited(defenceless)).violations
    assert violation.found == "it is accepted on evidence, and there is none"
    defenceless.shell.run(
        "insert into @evidence (notification_id, number, source, says, at)"
        f" values ({id}, 1, 'receipt', 'accepted', '{LONG_AGO}')"
    )
    report = await audited(defenceless)
    assert [violation.found for violation in report.violations] == [
        "it says accept, and its last attempt came to uncertain"
    ]


@IN_BOTH
async def test_an_unknown_state_is_reported_and_not_a_crash(defenceless: World) -> None:
    await populate(defenceless)
    defenceless.shell.run(row("accepted", "state = 'sent'"))
    found = {violation.check: violation.found for violation in (await audited(defenceless)).violations}
    assert found["state_has_its_instant"] == "there is no state 'sent'"
