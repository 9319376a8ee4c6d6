"""The story of examples/lessons: months of prompts, in the time a test takes."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from duebook import Email, Push, Rejected, Retry, SendContext, Sms, State, Throttled
from duebook.testing import SyncTimeline

EXAMPLE = Path(__file__).parents[2] / "examples/lessons"
MODULES = ("school", "outbox", "app", "fill", "redrive")

BY_EMAIL, BY_SMS, BY_PUSH = "p-001", "p-002", "p-003"
"""Pupils of one class by how they are reached; p-002 reads German."""


class Example(NamedTuple):
    """The modules of the example, over files of this test's own, with its book on a timeline."""

    school: ModuleType
    outbox: ModuleType
    app: ModuleType
    fill: ModuleType
    redrive: ModuleType
    timeline: SyncTimeline

    def promise(self, *, days: int = 90, title: str = "Algebra") -> None:
        """Put L-1 on the timetable, so many days ahead, and promise its prompts to three pupils."""
        starts_at = self.timeline.now + timedelta(days=days)
        lesson = self.school.Lesson("L-1", "6a", title, "A7", starts_at, starts_at + timedelta(minutes=45))
        self.school.add_lessons([lesson])
        pupils = [pupil for pupil in self.school.pupils() if pupil.pupil in (BY_EMAIL, BY_SMS, BY_PUSH)]
        self.app.book.sync.schedule_many(self.app.prompts(lesson, pupils))

    def ruled(self, *, dry_run: bool = False) -> list[tuple[str, ...]]:
        """Return key, class of failure, verb and answer of each prompt in review."""
        return [tuple(row[:4]) for row in self.redrive.review(self.timeline.now, dry_run=dry_run)]


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Example]:
    monkeypatch.setenv("LESSONS_SCHOOL", str(tmp_path / "school.db"))
    monkeypatch.setenv("LESSONS_OUTBOX", str(tmp_path / "outbox.jsonl"))
    monkeypatch.setenv("DUEBOOK_URL", "sqlite://")
    monkeypatch.syspath_prepend(str(EXAMPLE))
    school, outbox, app, fill, redrive = map(importlib.import_module, MODULES)
    with SyncTimeline(app.book) as timeline:
        app.open_school()
        yield Example(school, outbox, app, fill, redrive, timeline)
    app.book.sync.close()
    for name in MODULES:
        del sys.modules[name]


def test_each_is_told_over_the_channel_and_in_the_language_of_their_own(example: Example) -> None:
    example.promise()
    sent = {one.recipient: one for one in example.timeline.advance(days=90)}
    assert {name: one.channel for name, one in sent.items()} == {BY_EMAIL: "email", BY_SMS: "sms", BY_PUSH: "push"}
    assert {one.at for one in sent.values()} == {example.timeline.now - timedelta(minutes=10)}
    mail, text, note = (sent[name].message for name in (BY_EMAIL, BY_SMS, BY_PUSH))
    assert isinstance(mail, Email)
    assert mail.subject == "Algebra at 11:00 CEST, room A7"
    assert mail.text == "Algebra starts in 10 minutes, at 11:00 CEST, in room A7.\n"
    assert text == Sms(to="+493023125002", text="Algebra um 11:00 MESZ, Raum A7")
    assert note == Push(to="device-003", title="Algebra at 11:00 CEST, room A7")


def test_a_title_that_changed_after_it_was_promised_is_in_the_mail(example: Example) -> None:
    example.promise(title="Algebra")
    example.timeline.advance(days=89)
    example.school.retitle("L-1", "Geometry")
    example.timeline.advance(days=1)
    (mail,) = (one.message for one in example.timeline.sent(to=BY_EMAIL))
    assert isinstance(mail, Email)
    assert mail.subject == "Geometry at 11:00 CEST, room A7"
    assert mail.text.startswith("Geometry starts in 10 minutes")


def test_a_preference_that_changed_after_it_was_promised_is_honoured(example: Example) -> None:
    example.promise()
    example.timeline.advance(days=89)
    example.app.prefer(BY_EMAIL, "push")
    example.timeline.advance(days=1)
    assert [(one.channel, one.to) for one in example.timeline.sent(to=BY_EMAIL)] == [("push", "device-001")]


@pytest.mark.parametrize(("pupil", "channel", "error"), [(BY_SMS, "fax", ValueError), ("p-999", "sms", KeyError)])
def test_a_preference_that_cannot_be_honoured_is_refused(
    example: Example, pupil: str, channel: str, error: type[Exception]
) -> None:
    before = example.school.pupils()
    with pytest.raises(error, match=channel if error is ValueError else pupil):
        example.app.prefer(pupil, channel)
    assert example.school.pupils() == before


def test_a_lesson_that_is_called_off_prompts_nobody_and_the_record_says_why(example: Example) -> None:
    example.promise()
    example.school.call_off("L-1", "the teacher is ill")
    assert example.timeline.advance(days=91) == []
    for pupil in (BY_EMAIL, BY_SMS, BY_PUSH):
        example.timeline.expect("prompt", f"L-1/{pupil}").skipped(reason="called off: the teacher is ill").attempts(0)


def test_a_lesson_that_was_over_early_prompts_nobody(example: Example) -> None:
    example.promise()
    example.school.end("L-1", example.timeline.now + timedelta(days=60))
    assert example.timeline.advance(days=91) == []
    example.timeline.expect("prompt", f"L-1/{BY_SMS}").skipped(reason="the lesson was over at").attempts(0)


def test_a_lesson_that_left_the_timetable_prompts_nobody(example: Example) -> None:
    example.promise()
    Path(example.school.DATABASE).unlink()
    example.school.create()
    assert example.timeline.advance(days=91) == []
    example.timeline.expect("prompt", f"L-1/{BY_SMS}").skipped(reason="the lesson is not on the timetable").attempts(0)


def test_what_no_worker_looked_at_in_time_is_worth_nothing(example: Example) -> None:
    example.promise()
    example.timeline.at(example.timeline.now + timedelta(days=90, minutes=45))
    assert example.timeline.run_due() == []
    example.timeline.expect("prompt", f"L-1/{BY_PUSH}").skipped(reason="expired: worth nothing after").attempts(0)


@pytest.mark.parametrize("down", ["email", "sms", "push"])
def test_a_channel_that_rests_makes_no_other_later(example: Example, down: str) -> None:
    example.promise()
    example.app.book.sync.pause(channel=down, reason="its provider is down")
    example.timeline.advance(days=90)
    due_at = example.timeline.now - timedelta(minutes=10)
    others = {"email", "sms", "push"} - {down}
    assert {one.channel: one.at for one in example.timeline.sent()} == dict.fromkeys(others, due_at)


def test_a_channel_that_fails_makes_no_other_later(example: Example) -> None:
    example.promise()
    example.timeline.channel("sms").next(Throttled("too many"), *[Retry("down")] * 2, to=BY_SMS)
    example.timeline.advance(days=90)
    due_at = example.timeline.now - timedelta(minutes=10)
    assert {one.channel: one.at for one in example.timeline.sent()} == {"email": due_at, "push": due_at}
    example.timeline.expect("prompt", f"L-1/{BY_SMS}").in_review(reason="down").attempts(3)


def exhaust(example: Example) -> None:
    """Have the SMS of L-1 fail until it is in review, five minutes before the lesson."""
    example.promise()
    example.timeline.channel("sms").next(*[Retry("the sms provider is down")] * 2, to=BY_SMS)
    example.timeline.advance(days=90, minutes=-5)


def test_what_was_used_up_and_is_still_useful_is_sent_again_by_the_worker(example: Example) -> None:
    exhaust(example)
    key = f"L-1/{BY_SMS}"
    assert example.ruled(dry_run=True) == [(key, "exhausted", "redrive", "-")]
    example.timeline.expect("prompt", key).in_review().attempts(2)
    assert example.ruled() == [(key, "exhausted", "redrive", "done")]
    example.timeline.expect("prompt", key).scheduled().attempts(2)
    example.school.retitle("L-1", "Geometrie")
    (sent,) = example.timeline.run_due()
    assert sent.message == Sms(to="+493023125002", text="Geometrie um 11:00 MESZ, Raum A7")
    assert example.ruled() == []


def test_what_is_redriven_follows_a_preference_of_the_meantime(example: Example) -> None:
    exhaust(example)
    example.app.prefer(BY_SMS, "push")
    example.ruled()
    assert [one.channel for one in example.timeline.run_due()] == ["push"]


def test_what_was_used_up_and_is_worthless_by_now_is_dropped(example: Example) -> None:
    exhaust(example)
    key = f"L-1/{BY_SMS}"
    example.timeline.advance(minutes=50)
    assert example.ruled(dry_run=True) == [(key, "exhausted", "drop", "-")]
    example.timeline.expect("prompt", key).in_review()
    assert example.ruled() == [(key, "exhausted", "drop", "done")]
    example.timeline.expect("prompt", key).dropped(reason="the lesson was over at")


def test_what_was_refused_goes_again_only_to_a_record_that_was_corrected(example: Example) -> None:
    example.promise()
    example.timeline.channel("sms").next(Rejected("no such number"), to=BY_SMS)
    example.timeline.advance(days=90, minutes=-5)
    key = f"L-1/{BY_SMS}"
    assert example.ruled() == [(key, "refused", "redrive", "refused")]
    example.timeline.advance(minutes=1)
    example.app.prefer(BY_SMS, "email")
    assert example.ruled() == [(key, "refused", "redrive", "done")]
    assert [one.channel for one in example.timeline.run_due()] == ["email"]


def test_what_was_faulty_is_left_for_a_person(example: Example) -> None:
    example.promise()
    example.app.book.sync.people.set(BY_SMS, preferred="sms")
    example.timeline.advance(days=90, minutes=-5)
    assert example.ruled() == [(f"L-1/{BY_SMS}", "faulty", "leave", "-")]
    example.timeline.expect("prompt", f"L-1/{BY_SMS}").in_review(reason=f"nobody knows how to reach {BY_SMS}")


def test_more_than_a_page_is_ruled_on(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example.redrive, "PAGE", 2)
    example.promise()
    for pupil in (BY_EMAIL, BY_SMS, BY_PUSH):
        example.app.book.sync.people.set(pupil)
    example.timeline.advance(days=90)
    assert sorted(key for key, *_ in example.ruled()) == [f"L-1/{pupil}" for pupil in (BY_EMAIL, BY_SMS, BY_PUSH)]


def test_filling_promises_so_many_and_again_changes_nothing(example: Example, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(example.fill, "BATCH", 30)
    now = example.timeline.now
    assert list(example.fill.fill(70, now)) == [(30, 30), (60, 60), (70, 70)]
    promised = example.app.book.sync.search(limit=100)
    assert {n.state for n in promised} == {State.SCHEDULED}
    ahead = sorted(n.due_at - now for n in promised)
    assert ahead[0] == timedelta(minutes=1)
    assert timedelta(days=90) < ahead[-1] < timedelta(days=180)
    assert list(example.fill.fill(70, now + timedelta(days=1))) == [(30, 0), (60, 0), (70, 0)]


def test_a_provider_that_is_down_takes_nothing_and_the_others_do(
    example: Example, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LESSONS_DOWN", "sms")
    now: datetime = example.timeline.now
    context = SendContext("prompt", "k", BY_SMS, 1, "i", "m", now, 15.0, now)
    assert example.outbox.deliver("sms", "+4930", "…", context) == Retry("the sms provider is down")
    example.outbox.deliver("push", "device-003", "Algebra", context)
    (line,) = example.outbox.FILE.read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"at": f"{now:%H:%M:%S}", "channel": "push", "to": "device-003", "says": "Algebra"}
