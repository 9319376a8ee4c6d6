"""Digests from the command line: added to, looked at before they close, closed, and looked at afterwards."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from duebook import DigestPolicy, Due, Duebook, Email
from duebook.features.digests import Item
from tests.support.shell import Shell

from .support import duebook

ANN = ("news", "ann")


def add_hours_ago(url: str, number: int, recipient: str = "ann", hours: int = 3) -> None:
    """Add items as a program did some hours ago, so that their period has ended since."""

    async def go() -> None:
        book = Duebook(url)
        book.wired.clock.offset -= timedelta(hours=hours)

        @book.kind("news", channel="email", digest=DigestPolicy(limit=2))
        def news(due: Due) -> Email:
            raise AssertionError

        await book.digests.add_many(
            Item(kind="news", recipient=recipient, item=f"post-{n}", score=n) for n in range(1, number + 1)
        )
        await book.close()

    asyncio.run(go())


@pytest.mark.usefixtures("either_url", "newsroom")
def test_items_are_added_once_and_wait_in_their_order() -> None:
    made = duebook("digests", "add", *ANN, "post-1", "--data", '{"title": "Rates"}', "--json")
    assert (made.code, made.json["created"]) == (0, True)
    assert duebook("digests", "add", *ANN, "post-1").out == "post-1 is known already; nothing was changed.\n"
    duebook("digests", "add", *ANN, "post-2", "--score", "7")
    waiting = duebook("digests", "waiting", *ANN, "--json").json
    assert [(one["item"], one["score"], one["data"]) for one in waiting["items"]] == [
        ("post-2", 7, {}), ("post-1", 0, {"title": "Rates"}),
    ]  # fmt: skip
    assert waiting["closes_at"] == made.json["close_at"]
    assert "The period ends " in duebook("digests", "waiting", *ANN).out
    first = duebook("digests", "waiting", *ANN, "--limit", "1").out
    assert "There are more; these are the first 1 (--limit)." in first
    assert "It waits for the next digest." in duebook("digests", "item", *ANN, "post-1").out
    assert duebook("digests", "waiting", "news", "cid").out == "Nothing waits.\n"


@pytest.mark.usefixtures("newsroom")
def test_a_dry_run_foretells_what_closing_does(either_url: str) -> None:
    add_hours_ago(either_url, 5)
    assert ", and no worker has closed it yet." in duebook("digests", "waiting", *ANN).out
    foreseen = duebook("digests", "prepare", "--dry-run", "--json").json
    closed = duebook("digests", "prepare", "--json").json
    assert (foreseen["dry_run"], closed["dry_run"], closed["closed"]) == (True, False, 1)
    (before,), (after,) = foreseen["digests"], closed["digests"]
    for name in ("kind", "recipient", "label", "first_label", "periods", "cutoff_at", "total", "selected"):
        assert before[name] == after[name]
    assert (after["selected"], after["total"], after["periods"]) == (2, 5, 3)
    assert duebook("digests", "prepare").out == "Nothing was to be closed.\n"
    assert duebook("digests", "prepare", "--dry-run").out.startswith("Nothing is to be closed until ")
    later = duebook("digests", "prepare", "--dry-run", "--until", "61m", "--json").json["digests"]
    assert [(one["selected"], one["total"]) for one in later] == [(2, 3)]


@pytest.mark.usefixtures("newsroom")
def test_closing_one_kind_or_until_later_is_checked(url: str) -> None:
    add_hours_ago(url, 1)
    alone = duebook("digests", "prepare", "--kind", "alone", "--json")
    assert (alone.code, alone.failure["field"]) == (2, "kind")
    later = duebook("digests", "prepare", "--until", "24h", "--json")
    assert (later.code, later.failure["field"]) == (2, "until")
    assert duebook("digests", "prepare", "--kind", "news").out.startswith("1 digest closed.\n")


@pytest.mark.usefixtures("newsroom")
def test_a_digest_is_shown_with_what_it_froze(either_url: str) -> None:
    add_hours_ago(either_url, 5)
    label = duebook("digests", "prepare", "--json").json["digests"][0]["label"]
    shown = duebook("digests", "show", *ANN, label)
    assert f"Digest {label}: what was ready before " in shown.out
    assert "It held 2 of 5 items, 2 of them late for their own period." in shown.out
    assert "It stands for 3 periods; " in shown.out
    document = duebook("digests", "show", *ANN, label, "--json").json
    assert [one["item"] for one in document["items"]] == ["post-5", "post-4"]
    assert document["digest"]["state"] == "scheduled"
    assert f"It is in digest {label}: duebook digests show news ann {label}" in duebook(
        "digests", "item", *ANN, "post-5"
    ).out  # fmt: skip
    told = duebook("explain", "news", f"{label}/ann").out
    assert "It held 2 of 5 items, 2 of them late for their own period." in told
    assert duebook("explain", "news", f"{label}/ann", "--json").json["stories"][0]["digest"]["total"] == 5
    assert "2 of 5" in duebook("digests", "find", "--recipient", "ann").out
    for absent in (("show", *ANN, "1"), ("item", *ANN, "post-9")):
        assert duebook("digests", *absent).code == 1


@pytest.mark.parametrize(
    ("outcome", "label", "said"),
    [
        ("dropped", "null", "there was no room"),
        ("expired", "null", "it had waited too long"),
        ("read", "null", "it had been read"),
        ("undelivered", "'17'", "It is in digest 17, which was never delivered"),
    ],
)
@pytest.mark.usefixtures("newsroom")
def test_an_item_says_why_nobody_was_told_of_it(
    either_url: str, shell: Shell, outcome: str, label: str, said: str
) -> None:
    add_hours_ago(either_url, 1)
    shell.run(f"update @digest_items set outcome = '{outcome}', label = {label}")
    assert said in duebook("digests", "item", *ANN, "post-1").out
    assert duebook("digests", "item", *ANN, "post-1", "--json").json["outcome"] == outcome


@pytest.mark.usefixtures("newsroom")
def test_what_was_selected_and_never_delivered_is_in_the_status(either_url: str, shell: Shell) -> None:
    assert "undelivered" in duebook("status", "--json").json
    add_hours_ago(either_url, 5)
    duebook("digests", "prepare")
    shell.run("update @digests set outcome = 'undelivered'")
    assert duebook("status", "--json").json["undelivered"] == {"news": {"digests": 1, "items": 2}}
    assert "Selected but never delivered: 2 items in 1 digest of kind news" in duebook("status").out


@pytest.mark.usefixtures("newsroom")
def test_a_list_of_many_digests_of_one_cutoff_is_whole(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duebook.cli.paging.PAGE", 2)
    for name in ("ann", "bob", "cid", "dan", "eve"):
        add_hours_ago(url, 1, name)
    assert duebook("digests", "prepare", "--limit", "2").out.startswith("5 digests closed.\n")
    listed = json.loads(duebook("digests", "find", "--json").out)["digests"]
    assert sorted(one["recipient"] for one in listed) == ["ann", "bob", "cid", "dan", "eve"]


@pytest.mark.usefixtures("url", "newsroom")
def test_a_file_of_items_is_imported_once(tmp_path: Path) -> None:
    (tmp_path / "news.csv").write_text(
        "recipient,item,score,title\nann,post-1,2,Rates\nbob,post-1,high,Rates\nann,post-2,5,Rules\n"
    )
    call = ("digests", "import", "news.csv", "--kind", "news")
    tried = duebook(*call, "--dry-run")
    assert "news.csv, line 3: score: 'high' is not a number" in tried.out
    assert "2 can be added; those that are known already stay as they are, 1 bad row." in tried.out
    assert "Added 2; 0 existed already, 1 bad row." in duebook(*call).out
    assert "Added 0; 2 existed already, 1 bad row." in duebook(*call).out
    waiting = duebook("digests", "waiting", *ANN, "--json").json["items"]
    assert [(one["item"], one["data"]) for one in waiting] == [
        ("post-2", {"title": "Rules"}), ("post-1", {"title": "Rates"}),
    ]  # fmt: skip
