"""A broker on the command line: found wanting at once, in plain words, with nothing marked and no secret told."""

import sqlite3
from contextlib import closing

import pytest

from tests.queues.ports import free_port
from tests.queues.redis_server import RedisServer

from .support import duebook

SECRET = "open-sesame"


@pytest.fixture
def dead_queue(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUEBOOK_QUEUE", f"redis://duebook:{SECRET}@127.0.0.1:{free_port()}")


def marks(url: str) -> list[object]:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        found = connection.execute("select published_for from duebook_notifications order by id").fetchall()
    return [value for (value,) in found]


def promise(key: str, after: str) -> None:
    assert duebook("schedule", "renewal", key, "--recipient", "ann", "--after", after).code == 0


@pytest.mark.usefixtures("dead_queue")
def test_without_its_broker_nothing_starts_and_nothing_is_marked(url: str, app: str) -> None:
    promise("a", "0s")
    for command in (["promote", "--once"], ["worker", app]):
        found = duebook(*command)
        assert found.code == 5
        assert "redis://127.0.0.1" in found.err
        assert SECRET not in found.err + found.out
    assert marks(url) == [None]


@pytest.mark.usefixtures("dead_queue")
def test_the_doctor_says_which_is_down(url: str) -> None:
    found = duebook("doctor", "--database", url)
    assert found.code == 1
    assert "PROBLEM  broker: redis://127.0.0.1" in found.out
    assert "duebook migrate --queue" in found.out
    assert SECRET not in found.out


def test_the_doctor_finds_the_index(url: str, monkeypatch: pytest.MonkeyPatch, redis_server: RedisServer) -> None:
    monkeypatch.setenv("DUEBOOK_QUEUE", redis_server.url)
    assert "What no broker has been told of is indexed." in duebook("migrate", "--queue", "--database", url).out
    found = duebook("doctor", "--database", url)
    assert found.code == 0
    assert "what no broker has been told of is indexed" in found.out


def test_promote_publishes_what_is_due_soon_once(
    url: str, monkeypatch: pytest.MonkeyPatch, redis_server: RedisServer
) -> None:
    promise("soon", "60s")
    promise("far", "2h")
    monkeypatch.setenv("DUEBOOK_QUEUE", redis_server.url)
    assert duebook("promote", "--once", "--json").json == {"published": 1}
    assert [mark is None for mark in marks(url)] == [False, True]
    assert duebook("promote", "--once").out == "0 messages published.\n"


def test_who_knows_the_broker_tells_it_as_it_schedules(
    url: str, monkeypatch: pytest.MonkeyPatch, redis_server: RedisServer
) -> None:
    monkeypatch.setenv("DUEBOOK_QUEUE", redis_server.url)
    promise("soon", "60s")
    promise("far", "2h")
    assert [mark is None for mark in marks(url)] == [False, True]


def test_an_unknown_scheme_is_refused_with_the_list(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUEBOOK_QUEUE", f"kafka://duebook:{SECRET}@broker")
    found = duebook("promote", "--once", "--json")
    assert (found.code, found.failure["field"]) == (2, "queue")
    assert "redis" in found.failure["error"]
    assert SECRET not in found.err


def test_without_a_broker_it_says_how_to_name_one(url: str) -> None:
    found = duebook("promote", "--once")
    assert found.code == 2
    assert "DUEBOOK_QUEUE" in found.err
