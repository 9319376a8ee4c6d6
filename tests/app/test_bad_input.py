"""What cannot be used is refused with the field's name and the fix, and nothing of it is stored."""

from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest

from duebook import Backoff, Duebook, Retention, Retry, State, Throttled, Uncertain, local
from duebook.errors import DuebookError, InvalidInput, SchemaMismatch, UnknownName
from tests.app.desk import DAY, HOUR, START, Desk

NAIVE = START.replace(tzinfo=None)
GAP = "2030-03-31 02:30"


def nested(depth: int) -> dict[str, Any]:
    return reduce(lambda inner, _: {"a": inner}, range(depth), cast("dict[str, Any]", {}))


WHEN: list[tuple[str, dict[str, Any], str, str]] = [
    ("neither at nor after", {"after": None}, "at", "say when"),
    ("both", {"at": START + HOUR}, "at", "say when"),
    ("a naive datetime", {"after": None, "at": NAIVE}, "at", "ZoneInfo"),
    ("a date", {"after": None, "at": date(2030, 3, 1)}, "at", "datetime with a time zone"),
    ("a text", {"after": None, "at": "2030-03-01 09:00"}, "at", "datetime with a time zone"),
    ("a timestamp", {"after": None, "at": 1_893_456_000}, "at", "datetime with a time zone"),
    ("negative", {"after": -HOUR}, "after", "timedelta"),
    ("a number of seconds", {"after": 900}, "after", "timedelta"),
    ("words", {"after": "15 minutes"}, "after", "timedelta"),
    ("after a century", {"after": 36_526 * DAY}, "at", "100 years"),
    ("after for ever", {"after": timedelta.max}, "at", "100 years"),
    ("in 2131", {"after": None, "at": START.replace(year=2131)}, "at", "100 years"),
    ("in 1929", {"after": None, "at": START.replace(year=1929)}, "at", "100 years"),
    ("at the end of the calendar", {"after": None, "at": datetime(9999, 12, 31, 23, tzinfo=ZoneInfo("America/Lima"))},
     "at", "100 years"),
    ("at its beginning", {"after": None, "at": datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo"))}, "at", "100 years"),
    ("an hour that is skipped", {"after": None, "at": local(GAP, "Europe/Berlin", disambiguation="raise")},
     "at", "does not exist in Europe/Berlin"),
    ("an hour that comes twice",
     {"after": None, "at": local("2030-10-27 02:30", "Europe/Berlin", disambiguation="raise")}, "at", "happens twice"),
    ("expires before it is due", {"expires_at": START}, "expires_at", "not after the time it is due"),
    ("expires when it is due", {"expires_at": START + HOUR}, "expires_at", "not after the time it is due"),
    ("expires at a naive time", {"expires_at": NAIVE + DAY}, "expires_at", "no time zone"),
    ("expires at a text", {"expires_at": "2031-01-01"}, "expires_at", "datetime"),
    ("expires at the end of the calendar",
     {"expires_at": datetime(9999, 12, 31, 23, tzinfo=ZoneInfo("America/Lima"))}, "expires_at", ""),
]  # fmt: skip

WHAT: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown kind", {"kind": "nte"}, "kind", "Did you mean 'note'"),
    ("a kind like no other", {"kind": "zzz"}, "kind", "Known: note"),
    ("no kind", {"kind": None}, "kind", "unknown kind"),
    ("an empty key", {"key": ""}, "key", "must not be empty"),
    ("a number for a key", {"key": 42}, "key", "must be text"),
    ("a long key", {"key": "x" * 256}, "key", "256 characters long; the limit is 255"),
    ("a key with a NUL", {"key": "a\x00"}, "key", "U+0000"),
    ("a key with a line break", {"key": "a\nb"}, "key", "U+000A"),
    ("a key with half a character", {"key": "a\ud800"}, "key", "U+D800"),
    ("no recipient", {"recipient": None}, "recipient", "must be text"),
    ("an empty recipient", {"recipient": ""}, "recipient", "must not be empty"),
    ("a long recipient", {"recipient": "x" * 321}, "recipient", "the limit is 320"),
    ("a recipient with a carriage return", {"recipient": "ann\rbcc"}, "recipient", "U+000D"),
    ("an empty group", {"group": ""}, "group", "must not be empty"),
    ("a long group", {"group": "x" * 256}, "group", "the limit is 255"),
    ("a long tenant", {"tenant": "x" * 65}, "tenant", "the limit is 64"),
    ("a tenant with an escape", {"tenant": "\x1b[31m"}, "tenant", "U+001B"),
    ("data that is a list", {"data": [1, 2]}, "data", "must be a mapping"),
    ("data that is a text", {"data": "{}"}, "data", "must be a mapping"),
    ("data with a set", {"data": {"x": {1}}}, "data", "is not JSON"),
    ("data with a datetime", {"data": {"x": START}}, "data", "is not JSON"),
    ("data with bytes", {"data": {"x": b"a"}}, "data", "is not JSON"),
    ("data with NaN", {"data": {"x": float("nan")}}, "data", "is not JSON"),
    ("data with infinity", {"data": {"x": float("-inf")}}, "data", "is not JSON"),
    ("data with a NUL", {"data": {"x": "a\x00b"}}, "data", "U+0000"),
    ("data with a NUL in a name", {"data": {"a\x00": 1}}, "data", "U+0000"),
    ("data with half a character", {"data": {"x": "\ud800"}}, "data", "is not JSON"),
    ("data without a bottom", {"data": nested(5_000)}, "data", "is not JSON"),
    ("data over 64 KiB", {"data": {"x": "x" * 65_536}}, "data", "the limit is 65,536"),
    ("data over 64 KiB in bytes", {"data": {"x": "ä" * 32_768}}, "data", "the limit is 65,536"),
    ("an answer to existing ones nobody knows", {"if_exists": "update"}, "if_exists", "keep, reschedule, rearm, raise"),
]  # fmt: skip

SCHEDULES = WHEN + WHAT


@pytest.mark.parametrize(("bad", "field", "says"), [row[1:] for row in SCHEDULES], ids=[row[0] for row in SCHEDULES])
async def test_what_cannot_be_scheduled_is_refused_by_field_and_nothing_is_stored(
    desk: Desk, bad: dict[str, Any], field: str, says: str
) -> None:
    call: dict[str, Any] = {"kind": "note", "key": "a", "recipient": "ann", "after": HOUR, **bad}
    with pytest.raises(InvalidInput) as refused:
        await desk.book.schedule(call.pop("kind"), call.pop("key"), **call)
    assert refused.value.field == field
    assert says in refused.value.problem
    assert desk.place.count() == desk.place.count("identities") == 0


EDGES: list[tuple[str, dict[str, Any]]] = [
    ("the longest key", {"key": "🔔" * 255}),
    ("the longest recipient", {"recipient": "ä" * 320}),
    ("the longest tenant and group", {"tenant": "x" * 64, "group": "x" * 255}),
    ("the largest data", {"data": {"x": "x" * (65_536 - len('{"x":""}'))}}),
    ("no data", {"data": None}),
    ("a century", {"after": 36_525 * DAY}),
    ("at once", {"after": timedelta(0)}),
    ("a text that writes about the null character", {"data": {"x": r"\u0000"}}),
    ("numbers of every size", {"data": {"x": [0, -1, 2**70, 1.5, 1e15, 1e-300, True, None]}}),
    ("data of some depth", {"data": nested(200)}),
]  # fmt: skip


@pytest.mark.parametrize("good", [row[1] for row in EDGES], ids=[row[0] for row in EDGES])
async def test_what_is_just_within_the_limits_is_stored_and_comes_back(desk: Desk, good: dict[str, Any]) -> None:
    call: dict[str, Any] = {"key": "a", "recipient": "ann", "after": HOUR, **good}
    key = call.pop("key")
    await desk.book.schedule("note", key, **call)
    desk.clock.advance(call["after"])
    async with desk.worker():
        await desk.until_true(key, lambda n: n.number == 1, "sent")
    (due,) = desk.asked
    assert (due.key, due.recipient, due.data) == (key, call["recipient"], call.get("data") or {})


Call = Callable[[Duebook], Any]
VERBS: list[tuple[str, Call, str]] = [
    ("cancel, unknown kind", lambda book: book.cancel("nte", "a"), "kind"),
    ("cancel, long reason", lambda book: book.cancel("note", "a", reason="x" * 1_001), "reason"),
    ("cancel, empty reason", lambda book: book.cancel("note", "a", reason=""), "reason"),
    ("cancel, a line break", lambda book: book.cancel("note", "a", reason="a\nb"), "reason"),
    ("cancel_group, empty group", lambda book: book.cancel_group("", reason="read"), "group"),
    ("cancel_group, a NUL", lambda book: book.cancel_group("g\x00", reason="read"), "group"),
    ("cancel_group, long reason", lambda book: book.cancel_group("g", reason="x" * 1_001), "reason"),
    ("reschedule, unknown kind", lambda book: book.reschedule("nte", "a", after=HOUR), "kind"),
    ("reschedule, no time", lambda book: book.reschedule("note", "a"), "at"),
    ("reschedule, naive", lambda book: book.reschedule("note", "a", at=NAIVE), "at"),
    ("reschedule, expired", lambda book: book.reschedule("note", "a", after=DAY, expires_at=START), "expires_at"),
    ("send_now, unknown kind", lambda book: book.send_now("nte", "a"), "kind"),
    ("redrive, unknown kind", lambda book: book.redrive("nte", "a", reason="fixed"), "kind"),
    ("redrive, data that is no JSON", lambda book: book.redrive("note", "a", reason="fixed", data={"a": {1}}), "data"),
    ("redrive, empty reason", lambda book: book.redrive("note", "a", reason=""), "reason"),
    ("drop, an escape", lambda book: book.drop("note", "a", reason="\x1b"), "reason"),
    ("resolve, no such ruling", lambda book: book.resolve("note", "a", cast("Any", "lost"), reason="x"), "ruling"),
    ("resolve, empty reason", lambda book: book.resolve("note", "a", "sent", reason=""), "reason"),
    ("search, no such state", lambda book: book.search(state="lost"), "state"),
    ("search, a limit below zero", lambda book: book.search(limit=-1), "limit"),
    ("set_mode, unknown kind", lambda book: book.set_mode("nte", "off"), "kind"),
    ("set_mode, no such mode", lambda book: book.set_mode("note", cast("Any", "dry")), "mode"),
    ("pause, unknown channel", lambda book: book.pause(channel="mial"), "channel"),
    ("pause, unknown kind", lambda book: book.pause(kind="nte"), "kind"),
    ("pause, both", lambda book: book.pause(channel="mail", kind="note"), "kind"),
    ("pause, long reason", lambda book: book.pause(reason="x" * 1_001), "reason"),
    ("forget, nobody", lambda book: book.forget(""), "recipient"),
    ("forget, a NUL", lambda book: book.forget("ann\x00"), "recipient"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "field"), [row[1:] for row in VERBS], ids=[row[0] for row in VERBS])
async def test_every_verb_refuses_what_it_cannot_use_by_field(desk: Desk, call: Call, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await call(desk.book)
    assert refused.value.field == field
    assert desk.place.count("controls") == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda book: book.find("note", "a\x00"),
        lambda book: book.explain("note", "a\x00"),
        lambda book: book.cancel("note", "a\x00"),
        lambda book: book.search(recipient="a\x00"),
        lambda book: book.search(tenant="a\x00"),
        lambda book: book.search_address("a\x00"),
    ],
    ids=["find", "explain", "cancel", "search", "search by tenant", "search by address"],
)
async def test_a_question_with_a_character_that_cannot_be_stored_is_no_crash(desk: Desk, ask: Call) -> None:
    with suppress(InvalidInput):
        assert not await ask(desk.book)


URLS: list[tuple[str | None, str]] = [
    (None, "set DUEBOOK_URL"),
    ("", "set DUEBOOK_URL"),
    ("mysql://ann:hunter2@db/prod", "'mysql'"),
    ("ann:hunter2@db/prod", "must look like"),
    ("book.db", "must look like"),
    ("/var/lib/hunter2.db", "must look like"),
    ("postgresql://ann:hunter2[@db/prod", ""),
    ("postgresql://ann:hunter2/@db/prod", ""),
    ("sqlite:/var/lib/book.db", "sqlite://"),
    ("sqlite:book.db", "sqlite://"),
]


@pytest.mark.parametrize(("url", "says"), URLS, ids=[str(url) for url, _ in URLS])
def test_a_url_that_names_no_database_is_refused_and_no_password_is_told(
    url: str | None, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DUEBOOK_URL", raising=False)
    with pytest.raises(InvalidInput) as refused:
        Duebook(url)
    assert refused.value.field == "url"
    assert says in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("scheme", ["SQLite", "sqlite+aiosqlite"])
def test_a_scheme_may_be_written_as_other_libraries_do(scheme: str, tmp_path: Path) -> None:
    assert Duebook(f"{scheme}:///{tmp_path}/book.db").wired.database.dialect == "sqlite"


@pytest.mark.parametrize("name", ["a b", "a:b", "x" * 65, "ä"])
def test_a_namespace_that_could_be_mistaken_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="namespace"):
        Duebook("sqlite://", namespace=name)


@pytest.mark.parametrize(
    "ask",
    [
        lambda book: book.schedule("note", "a", recipient="ann", after=HOUR),
        lambda book: book.cancel("note", "a"),
        lambda book: book.find("note", "a"),
        lambda book: book.pause(),
        lambda book: book.worker().__aenter__(),
    ],
    ids=["schedule", "cancel", "find", "pause", "worker"],
)
async def test_a_database_without_tables_is_answered_with_the_command_that_makes_them(
    desk: Desk, ask: Call, tmp_path: Path
) -> None:
    if desk.place.dialect == "postgres":
        desk.place.ask("alter schema duebook rename to elsewhere")
        book = Duebook(desk.place.url)
    else:
        book = Duebook(f"sqlite:///{tmp_path}/empty.db")
    book.declare("note", channel="mail")
    try:
        with pytest.raises(SchemaMismatch, match="duebook migrate"):
            await ask(book)
    finally:
        await book.close()
        if desk.place.dialect == "postgres":
            desk.place.ask("alter schema elsewhere rename to duebook")


async def test_a_kind_whose_channel_nobody_registered_stops_the_worker_not_the_program(bare: Desk) -> None:
    bare.kind(channel="mial")
    bare.channel("mail")
    await bare.schedule("a")
    with pytest.raises(UnknownName, match="Did you mean 'mail'"):
        async with bare.book.worker():
            raise AssertionError("it started")


async def test_a_worker_for_a_channel_nobody_registered_is_refused(desk: Desk) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'mail'"):
        async with desk.book.worker(channels=["mial"]):
            raise AssertionError("it started")


@pytest.mark.parametrize("again", ["channel", "kind"])
def test_a_name_is_registered_once(desk: Desk, again: str) -> None:
    with pytest.raises(InvalidInput, match="registered already"):
        desk.channel() if again == "channel" else desk.kind()


EVER = timedelta.max
FOR_EVER: list[tuple[str, Callable[[], dict[str, Any]], Callable[[], dict[str, Any]]]] = [
    ("lateness", lambda: {"max_lateness": EVER}, dict),
    ("patience", lambda: {"patience": EVER}, dict),
    ("retries", lambda: {"retry": Backoff(ceiling=EVER, age=EVER)}, dict),
    ("retention", lambda: {"retention": Retention(EVER, EVER, EVER, EVER)}, dict),
    ("key window", dict, lambda: {"key_window": EVER}),
    ("pause", dict, lambda: {"pause": EVER}),
]


@pytest.mark.parametrize(("kind", "channel"), [row[1:] for row in FOR_EVER], ids=[row[0] for row in FOR_EVER])
async def test_a_length_of_time_that_means_for_ever_is_refused_or_usable(bare: Desk, kind: Any, channel: Any) -> None:
    try:
        bare.channel(**channel())
        bare.kind(**kind())
    except DuebookError:
        return
    outcomes = iter([Retry("451"), Throttled("429"), Uncertain("cut off")])
    bare.outcomes["a"] = lambda _: next(outcomes)
    async with bare.worker():
        await bare.schedule("a")
        await bare.until_put_off("a", 1)
        bare.clock.advance(DAY)
        await bare.until_true("a", lambda n: n.number == 2 and n.state is not State.SENDING)
    await bare.step("reconciler")
    await bare.step("pruner")
    await bare.step("sweeper")
