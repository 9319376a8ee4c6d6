"""What operators see and do: status and its exit codes, pauses, modes, the doctor."""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duebook import Duebook, EngineSettings
from duebook.cli import probes
from duebook.cli.doctor import Finding, postgres, sqlite, zone_data
from duebook.cli.operating import force, holds
from duebook.domain.control import Control
from tests.domain.builders import HOUR, NOW

from .support import deliver, duebook


def test_check_judges_by_exit_code(url: str) -> None:
    assert duebook("status", "--check").out == "All is well.\n"
    for key in ("lost-1", "refused-1"):
        duebook("schedule", "renewal", key, "--recipient", "ann", "--after", "0s")
    deliver(url, 2)
    assert duebook("status", "--check").code == 0
    assert duebook("status", "--check", "--max-review", "1", "--max-uncertain", "1").code == 0
    full = duebook("status", "--check", "--max-review", "0", "--max-uncertain", "0")
    assert (full.code, full.out) == (1, "uncertain: 1, the limit is 0\nreview: 1, the limit is 0\n")

    duebook("schedule", "renewal", "old", "--recipient", "ann", "--at", "2026-01-01T00:00Z")
    late = duebook("status", "--check", "--max-overdue", "1h", "--json")
    assert (late.code, late.json["ok"], late.json["problems"][0][:8]) == (1, False, "overdue:")
    assert duebook("status", "--check", "--max-overdue", "10000d").code == 0


def test_status_tells_what_is_held_and_what_waits(url: str) -> None:
    duebook("schedule", "renewal", "sent-1", "--recipient", "ann", "--after", "0s")
    deliver(url, 1)
    duebook("schedule", "renewal", "far", "--recipient", "ann", "--after", "2d")
    assert duebook("pause", "--channel", "email", "--reason", "provider down").code == 0
    assert duebook("pause", "--reason", "moving").code == 0
    assert duebook("mode", "renewal", "shadow").code == 0

    said = duebook("status").out
    assert "Lateness of the last 1 send" in said
    assert "In force: channel email is paused since" in said
    assert ": provider down." in said
    assert "In force: kind renewal is in mode shadow" in said

    left = duebook("resume", "--channel", "email").out
    assert "Resumed channel email." in left
    assert "everything is paused since" in left
    assert "Nothing held kind renewal." in duebook("resume", "--kind", "renewal").out


@pytest.mark.parametrize(
    ("rests", "probing", "said"),
    [
        (HOUR, None, "channel email rests until 2030-01-07 13:00:00 UTC: 429"),
        (
            -HOUR,
            None,
            "channel email has rested until 2030-01-07 11:00:00 UTC and waits for one send to try it out: 429",
        ),
        (-HOUR, HOUR, "channel email has rested until 2030-01-07 11:00:00 UTC and is being tried out by one send: 429"),
        (None, None, ""),
    ],
)
def test_a_throttle_says_how_its_channel_stands(rests: timedelta, probing: timedelta | None, said: str) -> None:
    until, trial = (None if span is None else NOW + span for span in (rests, probing))
    control = Control("channel:email", None, until, None, "429", "host:1:ab", NOW, trial)
    assert "".join(force([control], NOW)) == said
    assert holds(control, NOW) is bool(said)


def rest(url: str, seconds: float) -> None:
    """Let a channel rest, as a worker does whose sends fail."""

    async def go() -> None:
        book = Duebook(url)
        now = book.wired.clock.now()
        until, reason = now + timedelta(seconds=seconds), "its breaker is open, sends fail: connection refused"
        await book.wired.database.ask(book.wired.store.throttle("email", until, reason, "host:1:ab", now))
        await book.close()

    asyncio.run(go())


def test_an_open_breaker_is_told_with_its_reason_and_is_no_fault(either_url: str) -> None:
    rest(either_url, 600)
    said = duebook("status").out
    assert "In force: channel email rests until " in said
    assert ": its breaker is open, sends fail: connection refused." in said
    assert [one["throttle"] for one in duebook("status", "--json").json["controls"]] == ["open"]
    assert duebook("status", "--check").code == 0
    assert "sends fail" not in duebook("doctor").out
    assert duebook("resume", "--channel", "email").out == "Resumed channel email.\nNothing is held.\n"


def test_a_channel_that_waits_for_its_trial_can_be_let_go(url: str) -> None:
    rest(url, -600)
    assert "waits for one send to try it out" in duebook("status").out
    assert "Resumed channel email." in duebook("resume", "--channel", "email").out


@pytest.mark.usefixtures("either_url")
def test_the_doctor_explains_each_finding() -> None:
    answer = duebook("doctor", "--json")
    findings = {finding["topic"]: finding for finding in answer.json["findings"]}
    assert findings["schema"]["level"] == findings["zones"]["level"] == "good"
    problems = [finding for finding in findings.values() if finding["level"] == "problem"]
    assert answer.code == (1 if problems else 0)
    assert all(finding["means"] and finding["todo"] for finding in problems)
    if "PostgreSQL" in findings:
        assert findings["pooling"]["found"] == "the connection is direct"
        assert findings["LISTEN"]["level"] == findings["clocks"]["level"] == "good"
    else:
        assert findings["synchronous"]["level"] == "good"


def test_the_doctor_knows_a_database_without_tables(empty_url: str) -> None:
    connection = sqlite3.connect(empty_url.removeprefix("sqlite:///"))
    connection.execute("create table other (id integer)")
    connection.close()
    answer = duebook("doctor", "--database", empty_url)
    assert answer.code == 1
    assert "PROBLEM  schema" in answer.out


def test_the_doctor_examines_the_app(url: str, app: str) -> None:
    duebook("schedule", "renewal", "far", "--recipient", "ann", "--after", "2d")
    answer = duebook("doctor", "--app", app).out
    assert "good     kind renewal: served over channel email" in answer
    assert "advice   channel email: a send may take 60 s, a lease" in answer


def test_retention_is_the_apps_own(url: str, app: str) -> None:
    duebook("schedule", "renewal", "sent-1", "--recipient", "ann", "--after", "0s")
    deliver(url, 1)
    assert duebook("prune", "--app", app, "--json").json == {"parts": {"renewal": 0}, "identities": {"renewal": 0}}
    assert duebook("prune", "--older-than", "0s", "--kind", "renewal", "--json").json["parts"] == {"renewal": 3}


def judged(**seen: Any) -> dict[str, Finding]:
    settings = {
        "server_version_num": "150020",
        "server_version": "15.20",
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
        **seen.pop("settings", {}),
    }
    usual = {"skew": timedelta(0), "trip": timedelta(0), "proxied": False, "pooled": False, "heard": True}
    found = postgres(probes.Postgres(settings=settings, **{**usual, **seen}), EngineSettings())
    return {finding.topic: finding for finding in found}


def test_what_the_doctor_thinks_of_a_server() -> None:
    assert {finding.level for finding in judged().values()} == {"good"}
    assert judged(settings={"synchronous_commit": "off"})["durability"].level == "problem"
    assert judged(settings={"fsync": "off"})["durability"].level == "problem"
    assert judged(settings={"server_version_num": "120001"})["PostgreSQL"].level == "problem"
    assert judged(skew=timedelta(seconds=-3))["clocks"].level == "advice"
    assert "behind this host" in judged(skew=timedelta(seconds=-3))["clocks"].found
    assert judged(skew=timedelta(minutes=1))["clocks"].level == "problem"
    assert judged(proxied=True)["pooling"].level == "good"
    assert judged(proxied=True, pooled=True)["pooling"].level == "problem"
    assert judged(heard=False)["LISTEN"].level == "problem"


def test_what_the_doctor_thinks_of_sqlite_and_zones() -> None:
    def level(release: tuple[int, ...], mode: str, synchronous: str = "full") -> set[str]:
        return {finding.level for finding in sqlite(probes.Sqlite(release, mode, synchronous))}

    assert level((3, 40, 1), "wal") == {"problem", "good"}
    assert level((3, 40, 1), "truncate") == level((3, 51, 3), "wal") == {"good"}
    assert level((3, 51, 3), "wal", "normal") == {"good", "advice"}

    now = datetime(2027, 6, 1, tzinfo=UTC)
    assert zone_data("2026f", now).level == zone_data("2027a", now).level == "good"
    assert zone_data("2025b", now).level == "advice"
