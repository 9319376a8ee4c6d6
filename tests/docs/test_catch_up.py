"""The table of what becomes of an outage is what happens."""

import ast
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from duebook import Due, Duebook, Missed, Push
from duebook.testing import Timeline

from . import pages

ROW = re.compile(r"^\| `(catch_up=[^`]+)`[^|]*\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
ROWS: list[tuple[str, ...]] = ROW.findall(pages.text(pages.DOCS / "concepts/catch-up.md"))


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2027-01-04T{clock}").replace(tzinfo=UTC)


def options(written: str) -> dict[str, Any]:
    """The arguments as they are written in the table."""
    call = ast.parse(f"f({written})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {
        str(one.arg): timedelta(hours=ast.literal_eval(one.value.keywords[0].value))
        if isinstance(one.value, ast.Call)
        else ast.literal_eval(one.value)
        for one in call.keywords
    }


def listed(times: Sequence[str]) -> str:
    return ", ".join(times) or "none"


def runs(records: Sequence[Missed], outcome: str) -> str:
    """From the first to the last period of one fate; what was missed is told in runs that follow each other."""
    found = sorted((one for one in records if one.outcome == outcome), key=lambda one: one.first_at)
    for earlier, later in pairwise(found):
        assert later.first_at - earlier.last_at == timedelta(hours=1)
    return f"{found[0].first_at:%H:%M} to {found[-1].last_at:%H:%M}" if found else "none"


def test_the_table_is_there() -> None:
    assert {options(row[0])["catch_up"] for row in ROWS} == {"latest", "all", "combine", "skip"}


@pytest.mark.parametrize(("written", "sent", "skipped", "combined"), ROWS, ids=[row[0] for row in ROWS])
async def test_a_row_of_the_table_is_what_happens(written: str, sent: str, skipped: str, combined: str) -> None:
    book = Duebook("sqlite:///never-opened.db", namespace="docs")

    @book.kind("news", channel="push")
    def news(due: Due) -> Push:
        return Push(to=due.recipient, title="News", body=due.key)

    with Timeline(book, start=at("07:30")) as timeline:
        await book.schedules.set(
            "news", kind="news", recipient="ann", recurrence="0 * * * *", zone="UTC", **options(written)
        )
        assert len(await timeline.advance_to(at("08:30"))) == 1
        timeline.at(at("14:30"))
        made = [one.key[-5:] for one in await timeline.run_due()]
        records = [one for _, one in await book.schedules.missed(name="news")]
        assert (listed(made), runs(records, "skipped"), runs(records, "combined")) == (sent, skipped, combined)
        assert len(made) + sum(one.periods for one in records) == 6
        assert [one.at for one in await timeline.advance_to(at("15:00"))] == [at("15:00")]
