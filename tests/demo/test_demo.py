"""The demo in small, as a program of its own; and that its verdict finds fault where there is some."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from duebook.cli.demo import desk
from duebook.cli.demo.inbox import Fault, accepted
from duebook.cli.demo.plot import plot
from duebook.cli.demo.stage import CannotPlay, prepare, reminders
from duebook.cli.demo.term import HEADING
from duebook.cli.demo.verdict import Verdict, compare
from duebook.domain.identity import idempotency_key, message_id
from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Notification

SOURCE = Path(__file__).parents[2] / "src"
PLAY = "import sys; from duebook.cli.demo import run; sys.exit(run(accounts=6))"
DOMAIN = "mail.example"


def test_a_small_year_loses_and_doubles_nothing(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "nowhere"), "PYTHONPATH": str(SOURCE)}
    environment["DUEBOOK_QUEUE"] = "redis://127.0.0.1:1"
    played = subprocess.run(
        [sys.executable, "-c", PLAY], cwd=tmp_path, env=environment, capture_output=True, check=False, text=True
    )
    assert played.returncode == 0, played.stdout + played.stderr
    year, _, afterwards = played.stdout.partition(HEADING)
    assert "The school's ledger against its outbox" in afterwards
    numbers = {name: int(number) for name, number in re.findall(r"(?m)^  ([a-z]+) +(\d+)  ", year)}
    assert numbers["double"] == numbers["lost"] == numbers["stray"] == 0
    assert numbers["promised"] == len(reminders(6)) + desk.BURST + desk.READ + 2
    closed = numbers["accepted"] + numbers["skipped"] + numbers["cancelled"] + numbers["uncertain"]
    assert closed == numbers["promised"]
    assert min(numbers["skipped"], numbers["cancelled"], numbers["uncertain"]) > 0
    together = year.partition("What was told together")[2].partition("What a person")[0]
    mails = re.findall(r"(?m)^ {14}(.+)$", together)
    assert mails == [
        "You have 5 unread messages from Tallyroom", "no mail", "20 of 37 new documents", "18 of 18 new documents",
    ]  # fmt: skip
    killed = re.search(r"the worker is killed: (\d+) mails are on the wire", year)
    assert killed
    assert 0 < int(killed[1]) <= 5
    assert len(re.findall(r"the worker died +(?:arrived|did not arrive)", year)) == int(killed[1])
    assert sum(accepted(tmp_path / "duebook-demo/inbox").values()) >= numbers["accepted"]
    prepare(tmp_path / "duebook-demo")
    assert [file.name for file in (tmp_path / "duebook-demo").iterdir()] == [".gitignore"], "it can be played again"


def test_the_plot_gives_every_account_one_part_at_most() -> None:
    promised = reminders(None)
    story = plot(promised)
    key_to_account = {reminder.new.key: reminder.account for reminder in promised}
    acts = (story.closes, story.moves, story.burst, story.read, story.documents)
    parts = [*(account for _, account in acts), *(reminder.account for _, reminder in story.filed_early)]
    assert len(set(parts)) == len(parts)
    assert not set(parts) & {key_to_account[key] for key in story.faults}
    assert {fault for several in story.faults.values() for fault in several} == set(Fault)
    assert story.busiest == max(Counter(reminder.due_at for reminder in promised).values())


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("draft")
    with pytest.raises(CannotPlay, match=r"thesis\.txt"):
        prepare(tmp_path)
    assert (tmp_path / "thesis.txt").exists()


def noted(id: int, state: State) -> Notification:
    nothing: dict[str, Any] = dict.fromkeys(Notification._fields)
    known: dict[str, Any] = {
        "id": id,
        "kind": "k",
        "key": str(id),
        "namespace": "test",
        "state": state,
        "due_at": datetime.now(UTC),
    }
    return Notification(**{**nothing, **known})


def mail(id: int) -> str:
    return message_id(idempotency_key("test", "k", str(id)), DOMAIN)


def verdict(letters: list[str], *notifications: Notification) -> Verdict:
    return compare(list(notifications), Counter(letters), DOMAIN)


@pytest.mark.parametrize("state", [State.ACCEPTED, State.UNCERTAIN, State.REVIEW])
def test_a_mail_that_arrived_twice_is_double(state: State) -> None:
    found = verdict([mail(1), mail(1), mail(2)], noted(1, state), noted(2, State.ACCEPTED))
    assert [n.id for n in found.double] == [1]
    assert not found.sound


@pytest.mark.parametrize("state", [State.ACCEPTED, State.SCHEDULED, State.CLAIMED, State.SENDING])
def test_what_neither_arrived_nor_ended_is_lost(state: State) -> None:
    found = verdict([], noted(1, state))
    assert [n.id for n in found.lost] == [1]
    assert not found.sound


@pytest.mark.parametrize("state", [State.SKIPPED, State.CANCELLED])
def test_what_arrived_though_nobody_sent_it_is_stray(state: State) -> None:
    assert verdict([mail(1)], noted(1, state)).stray == 1
    assert verdict([mail(7)], noted(1, state)).stray == 1
    assert verdict([], noted(1, state)).sound


def test_what_was_dropped_from_review_was_never_sent_and_what_was_uncertain_may_have_been() -> None:
    dropped = noted(1, State.DROPPED)
    assert verdict([mail(1)], dropped._replace(event=Event.DROP)).stray == 1
    assert verdict([mail(1)], dropped._replace(event=Event.RESOLVE_DROP)).sound


@pytest.mark.parametrize("found", [[], ["2 of 2"], ["1 of 2", "1 of 2"]])
def test_a_story_whose_mails_are_not_those_it_wants_is_not_sound(found: list[str]) -> None:
    right, wrong = desk.Told("digest", "", ["1 of 2"], ["1 of 2"]), desk.Told("digest", "", ["1 of 2"], found)
    assert replace(verdict([]), told=[right]).sound
    assert not replace(verdict([]), told=[right, wrong]).sound


def test_an_uncertain_one_is_sound_wherever_its_mail_is() -> None:
    assert verdict([mail(1)], noted(1, State.UNCERTAIN), noted(2, State.UNCERTAIN)).sound
