"""The demo's term in small: what it tells, and that its verdict finds fault where there is some."""

from __future__ import annotations

import asyncio
import io
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from duebook import Duebook, Notification, State
from duebook.cli.demo import run, term
from duebook.cli.demo.stage import CannotPlay, load_lessons
from duebook.cli.demo.term_told import told
from duebook.cli.demo.term_verdict import Line, TermVerdict, compare, judge, line_of, lines
from duebook.cli.demo.timetable import FEWEST_HOURS, HOURS, Timetable, timetable

CHANNELS = ("email", "sms", "push", "desk")
Change = Callable[[list[str]], list[str]]


class Played(NamedTuple):
    """A term that is over: its folder, exit code and words, and what its verdict was made of."""

    folder: Path
    code: int
    words: str
    term: Timetable
    verdict: TermVerdict


def rewrite(outbox: Path, change: Change) -> None:
    outbox.write_text("".join(change(outbox.read_text("utf-8").splitlines(keepends=True))), "utf-8")


def play(folder: Path, change: Change = list) -> Played:
    """Play the shortest term; `change`: what becomes of the lines of its outbox before the verdict."""
    judged: list[tuple[Timetable, TermVerdict]] = []

    async def changed(book: Duebook, outbox: Path, timetable: Timetable) -> TermVerdict:
        await asyncio.to_thread(rewrite, outbox, change)
        judged.append((timetable, await judge(book, outbox, timetable)))
        return judged[0][1]

    with pytest.MonkeyPatch.context() as patch:
        for name in ("DUEBOOK_URL", "LESSONS_SCHOOL", "LESSONS_OUTBOX"):
            patch.setenv(name, "set by the demo")
        patch.setattr(term, "judge", changed)
        words = io.StringIO()
        code = asyncio.run(term.play(folder, Console(file=words, highlight=False, width=200), FEWEST_HOURS))
    return Played(folder, code, words.getvalue(), *judged[0])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("term"))


def numbers(words: str) -> dict[str, list[int]]:
    """Return the rows of the table, by their names."""
    rows = re.findall(r"(?m)^  ([a-z]+) {2,}(\d+) +(\d+) +(\d+) +(\d+) +(\d+)  ", words)
    return {name: [int(number) for number in several] for name, *several in rows}


def test_a_small_term_loses_and_doubles_nothing_over_any_channel(played: Played) -> None:
    assert played.code == 0, played.words
    table = numbers(played.words)
    assert table["double"] == table["lost"] == table["stray"] == [0] * 5
    assert table["promised"][-1] == 20 * FEWEST_HOURS
    assert min(table["accepted"][:3]) > 0
    ends = zip(table["accepted"], table["skipped"], table["dropped"], strict=True)
    assert table["promised"] == [sum(column) for column in ends]
    assert table["skipped"][-1] == 30
    assert [number > 0 for number in table["dropped"]] == [False, True, False, False, True]
    assert len((played.folder / "outbox.jsonl").read_text("utf-8").splitlines()) == table["accepted"][-1]


@pytest.mark.parametrize(
    "line",
    [
        r"02-07 07:45  160 prompts are promised, 5 minutes to 24 days ahead, and a worker is started",
        r"L-\d+, promised as \w+, gets a new title: Biology",
        r"p-\d+ is reached by push from now on, no longer by (email|sms)",
        r"L-\d+ is called off: the teacher is ill",
        r"its 10 prompts were due, and are skipped",
        r"a worker is started: 20 prompts have expired and are skipped, none are sent",
        r"the sms provider is down",
        r"13 prompts went out by the other channels",
        r"7 by sms used up their attempts, and wait in review",
        r"4 exhausted: drop, as the lesson is called off: the room is flooded",
        r"3 exhausted: redrive, as its attempts were used up, and its lesson is not over",
        r"the worker sends 3 of them, as it does any other prompt",
    ],
)
def test_what_happens_is_told_with_its_date(played: Played, line: str) -> None:
    assert re.search(rf"(?m)^2028-.*{line}$", played.words), played.words


def test_the_term_is_found_to_be_as_it_should(played: Played) -> None:
    stories = {one.name: list(one.found) for one in played.verdict.whole.told}
    assert stories["title"] == ["10 say Biology"]
    assert stories["channel"] == ["1 by push"]
    assert stories["no lesson"] == ["10 skipped: the lesson is called off: the teacher is ill"]
    assert stories["expired"] == ["20 skipped: expired: worth nothing after 2028-02-21T07:45:00+00:00"]
    assert stories["outage"][0] == "13 by the other channels, in the promised minute"
    assert stories["outage"][1] == "3 by sms, when its provider was back"
    assert len(stories["outage"]) == 3


def test_an_outbox_that_lacks_a_line_makes_the_exit_code_1(tmp_path: Path) -> None:
    broken = play(tmp_path, lambda several: several[1:])
    assert broken.code == 1
    assert numbers(broken.words)["lost"][-1] == 1
    assert "lost: prompt L-001/" in broken.words


def judged(played: Played, change: Callable[[Counter[Line]], None]) -> TermVerdict:
    taken = lines(played.folder / "outbox.jsonl")
    change(taken)
    return compare(played.verdict.whole.notifications, taken, CHANNELS)


def first(taken: Counter[Line], channel: str) -> Line:
    return next(line for line in taken if line[0] == channel)


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_a_line_that_is_missing_is_lost_by_its_channel(played: Played, channel: str) -> None:
    found = judged(played, lambda taken: taken.subtract([first(taken, channel)]))
    assert not found.sound
    assert {name: len(one.lost) for name, one in found.channels.items() if one.lost} == {channel: 1}


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_a_line_that_is_there_twice_is_double_by_its_channel(played: Played, channel: str) -> None:
    found = judged(played, lambda taken: taken.update([first(taken, channel)]))
    assert not found.sound
    assert {name: len(one.double) for name, one in found.channels.items() if one.double} == {channel: 1}


@pytest.mark.parametrize("line", [("sms", "+493023125002", "Hello"), ("fax", "1", "Hello")])
def test_a_line_of_which_the_ledger_knows_nothing_is_stray(played: Played, line: Line) -> None:
    found = judged(played, lambda taken: taken.update([line]))
    assert not found.sound
    assert found.whole.stray == 1


def test_what_was_dropped_and_is_in_the_outbox_all_the_same_is_stray(played: Played) -> None:
    dropped = played.verdict.whole.being(State.DROPPED)[0]
    line = line_of(dropped)
    assert line is not None
    found = judged(played, lambda taken: taken.update([line]))
    assert (found.whole.stray, found.channels["sms"].stray) == (1, 1)


Said = dict[int, str]


def unsound(played: Played, change: Callable[[list[Notification], Said], None]) -> list[str]:
    """Return the names of the stories that are not sound after a change of the ledger or of what was said."""
    notifications = list(played.verdict.whole.notifications)
    said = {n.id: line[2] for n in notifications if n.state is State.ACCEPTED and (line := line_of(n))}
    assert all(one.sound for one in told(played.term, notifications, said))
    change(notifications, said)
    stories = told(played.term, notifications, said)
    assert not replace(played.verdict.whole, told=stories).sound
    return [one.name for one in stories if not one.sound]


def test_a_promise_that_is_on_no_record_is_missed(played: Played) -> None:
    assert unsound(played, lambda notifications, said: notifications.remove(notifications[0])) == ["promises"]


def test_a_prompt_with_the_old_title_is_noticed(played: Played) -> None:
    group = played.term.retitled.groups[0]

    def change(notifications: list[Notification], said: Said) -> None:
        one = next(n for n in notifications if n.key.startswith(f"{group.name}/"))
        said[one.id] = said[one.id].replace("Biology", group.lesson.title)

    assert unsound(played, change) == ["title"]


def test_a_prompt_over_the_old_channel_is_noticed(played: Played) -> None:
    pupil = played.term.changing

    def change(notifications: list[Notification], said: Said) -> None:
        place = next(place for place, n in enumerate(notifications) if n.recipient == pupil.pupil)
        notifications[place] = notifications[place]._replace(channel=pupil.reached_by)

    assert unsound(played, change) == ["channel"]


def test_a_prompt_in_the_language_of_somebody_else_is_noticed(played: Played) -> None:
    def change(notifications: list[Notification], said: Said) -> None:
        one = next(id for id, says in said.items() if ", Raum A" in says)
        said[one] = said[one].replace(", Raum A", ", room A")

    assert unsound(played, change) == ["language"]


@pytest.mark.parametrize(("name", "state", "reason"), [
    ("no lesson", State.SKIPPED, "the lesson is called off"),
    ("expired", State.SKIPPED, "expired"),
    ("outage", State.DROPPED, "the lesson is called off"),
])  # fmt: skip
def test_a_prompt_of_a_lesson_that_is_not_or_is_over_is_noticed(
    played: Played, name: str, state: State, reason: str
) -> None:
    def change(notifications: list[Notification], said: Said) -> None:
        one = next(n for n in notifications if n.state is state and (n.reason or "").startswith(reason))
        said[one.id] = "Algebra"

    assert name in unsound(played, change)


@pytest.mark.parametrize(("channel", "minutes"), [("email", 1), ("push", 2), ("sms", -10)])
def test_a_prompt_of_the_outage_that_was_not_sent_in_its_time_is_noticed(
    played: Played, channel: str, minutes: int
) -> None:
    names = tuple(f"{group.name}/" for group in played.term.outage.groups)

    def change(notifications: list[Notification], said: Said) -> None:
        found = (at for at, n in enumerate(notifications) if n.key.startswith(names) and n.channel == channel)
        at = next(at for at in found if notifications[at].id in said)
        begun_at = notifications[at].begun_at
        assert begun_at is not None
        notifications[at] = notifications[at]._replace(begun_at=begun_at + timedelta(minutes=minutes))

    assert unsound(played, change) == ["outage"]


def test_the_whole_term_gives_each_hour_one_part_at_most_and_spares_the_breaker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DUEBOOK_URL", "LESSONS_SCHOOL", "LESSONS_OUTBOX"):
        monkeypatch.setenv(name, "set by the demo")
    lessons = load_lessons(tmp_path)
    lessons.school.create()
    for hours in range(FEWEST_HOURS, HOURS + 1):
        found = timetable(lessons, hours)
        parts = (found.retitled, found.changes_channel, found.called_off, found.unattended, found.outage)
        assert len({hour.starts_at for hour in parts}) == len(parts)
        assert found.hours[0] not in parts
        assert len({group.lesson.room for group in found.groups}) == 2 * hours
    breaker = lessons.app.book.registry.channels["sms"].policy.breaker
    attempts = lessons.app.book.registry.kinds["prompt"].retry.attempts
    for hour in timetable(lessons, HOURS).hours:
        by_sms = [pupil for group in hour.groups for pupil in group.pupils if pupil.reached_by == "sms"]
        assert attempts * len(by_sms) < breaker
    with pytest.raises(CannotPlay, match=f"{FEWEST_HOURS} hours"):
        timetable(lessons, FEWEST_HOURS - 1)


@pytest.mark.parametrize(("codes", "code"), [((0, 0), 0), ((1, 0), 1), ((0, 1), 1)])
def test_the_demo_is_only_as_sound_as_both_of_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: tuple[int, int], code: int
) -> None:
    async def answer(*arguments: object) -> int:
        return codes[len(arguments) == 2]

    monkeypatch.setattr("duebook.cli.demo.year.play", answer)
    monkeypatch.setattr("duebook.cli.demo.term.play", answer)
    assert run(tmp_path) == code
