import json
from collections.abc import Iterator
from typing import Any

import pytest

from duebook.ports import Statement
from duebook.stores import catalog
from tests.plans.statements import BIG, IDS, PINNED, Pinned, begin, claim
from tests.support.clock import START
from tests.support.shell import Shell


def explain(shell: Shell, statement: Statement, mode: str) -> dict[str, Any]:
    """The plan as it was run, and then undone. A prepared statement is what every pooled connection uses."""
    compiled = catalog.prepare("postgres", "numeric", statement)
    connection = shell.connection
    with connection.transaction(force_rollback=True):
        connection.execute(f"set local plan_cache_mode = {mode}")
        connection.execute("deallocate all")
        connection.execute(f"prepare pinned as {compiled.text}")
        values = [quoted(value) for value in compiled.positional(statement.parameters)]
        arguments = f"({', '.join(values)})" if values else ""
        connection.execute(f"execute pinned{arguments}")
    with connection.transaction(force_rollback=True):
        connection.execute(f"set local plan_cache_mode = {mode}")
        cursor = connection.execute(f"explain (analyze, buffers, format json) execute pinned{arguments}")
        ((found,),) = cursor.fetchall()
    return dict(found[0]["Plan"])


def quoted(value: Any) -> str:
    return "null" if value is None else str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def buffers(plan: dict[str, Any]) -> int:
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def check(plan: dict[str, Any], pinned: Pinned) -> None:
    scanned = {node["Relation Name"] for node in nodes(plan) if node["Node Type"] == "Seq Scan"}
    used = {str(node["Index Name"]) for node in nodes(plan) if "Index Name" in node}
    # What arbitrates a conflict is named elsewhere.
    used |= {index for node in nodes(plan) for index in node.get("Conflict Arbiter Indexes", ())}
    if "Conflict Resolution" in json.dumps(plan):
        used.add("identities_pkey")
    assert not scanned & set(BIG)
    assert used >= set(pinned.indexes)
    assert buffers(plan) <= pinned.buffers


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("name", PINNED)
def test_a_statement_goes_through_its_indexes_and_touches_little(crowded_postgres: Shell, name: str, mode: str) -> None:
    pinned = PINNED[name]
    check(explain(crowded_postgres, pinned.statement, mode), pinned)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
def test_an_old_snapshot_elsewhere_costs_a_claim_from_its_floor_nothing(pinned_past: Shell, mode: str) -> None:
    for name in ("an empty claim", "peek from the floor", "begin", "lock_expired_leases"):
        check(explain(pinned_past, PINNED[name].statement, mode), PINNED[name])
    assert buffers(explain(pinned_past, PINNED["an empty sweep"].statement, mode)) < 5_000


def test_begin_is_a_heap_only_update(crowded_postgres: Shell) -> None:
    shell = crowded_postgres
    counters = "select pg_stat_get_xact_tuples_updated(t), pg_stat_get_xact_tuples_hot_updated(t) from ("
    counters += "select '@notifications'::regclass as t) as a"
    with shell.connection.transaction(force_rollback=True):
        shell.run(
            f"update @notifications set state = 'claimed', event = 'claim', version = 2, wake_at = null,"
            f" lease_until = '{START.isoformat()}'::timestamptz + interval '15 s', holder = 'w'"
            f" where id = any (array{IDS})"
        )
        before = shell.run(counters)[0]
        compiled = catalog.prepare("postgres", "numeric", next(begin()))
        shell.run(f"prepare beginning as {compiled.text}")
        values = compiled.positional(next(begin()).parameters)
        assert len(shell.run(f"execute beginning({', '.join(map(quoted, values))})")) == len(IDS)
        after = shell.run(counters)[0]
    assert [late - early for late, early in zip(after, before, strict=True)] == [len(IDS), len(IDS)]


def test_a_claim_reads_no_more_of_what_nobody_serves_than_of_the_future(crowded_postgres: Shell) -> None:
    """Five thousand due rows of an unknown kind; a rolling deploy leaves such for an hour."""
    plan = explain(crowded_postgres, next(claim("orphan", START.replace(year=2029))), "force_custom_plan")
    assert buffers(plan) < 6_000, "it looks at each of them once at most"
