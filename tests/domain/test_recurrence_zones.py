"""Every zone, every change of its clocks from 2024 to 2030, and two other opinions about each."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise, takewhile

import pytest
import whenever
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain import zones
from duebook.domain.recurrence import Cron, Every, Occurrence

from .changes import CHANGING, changes

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
EVERYWHERE = [(zone, change) for zone in sorted(zones.names()) for change in changes(zone)]
AROUND = tuple(timedelta(minutes=minutes) for minutes in (-61, -60, -30, -1, 0, 1, 29, 30, 59, 60))


pytestmark = pytest.mark.usefixtures("oracle_reads_the_package")


def instant_of(wall: datetime, zone: str) -> datetime:
    return whenever.PlainDateTime(wall).assume_tz(zone, disambiguation="compatible").to_instant().to_stdlib()


def local(at: datetime, zone: str) -> datetime:
    return at.astimezone(zones.zone(zone)).replace(tzinfo=None)


def dates(first: datetime, last: datetime) -> list[date]:
    return [first.date() + number * DAY for number in range((last.date() - first.date()).days + 1)]


def ascending(found: list[Occurrence]) -> bool:
    return all(one.at < following.at for one, following in pairwise(found))


def test_there_is_something_to_test() -> None:
    assert len(EVERYWHERE) > 2_000
    assert {zone for zone, _ in EVERYWHERE} > set(CHANGING)


def test_a_fixed_daily_time_comes_once_a_day_in_every_zone() -> None:
    for zone, change in EVERYWHERE:
        for distance in AROUND:
            at = local(change - MINUTE, zone) + MINUTE + distance
            days = dates(at - DAY, at + DAY)
            start, end = (instant_of(datetime.combine(day, time()), zone) for day in (days[0], days[-1] + DAY))
            found = list(Cron(f"{at.minute} {at.hour} * * *").occurrences(zone, start, end))
            assert [one.label for one in found] == [f"{day}T{at:%H:%M}" for day in days], (zone, change)
            assert ascending(found)


def test_a_daily_step_comes_when_the_other_library_says_in_every_zone() -> None:
    for zone, change in EVERYWHERE:
        for distance in AROUND[1::3]:
            at = local(change - MINUTE, zone) + MINUTE + distance
            found = list(Every(1, "day", at - 3 * DAY).occurrences(zone, change - 2 * DAY, change + 2 * DAY))
            assert len(found) in (3, 4, 5)
            for one in found:
                assert one.at == instant_of(datetime.fromisoformat(one.label), zone), (zone, change)


def test_wildcards_come_whenever_the_clock_shows_their_minute_in_every_zone() -> None:
    """The oracle looks at the clock each minute, and knows nothing of wall times that do not exist."""
    quarters = Cron("*/15 * * * *")
    for zone, change in EVERYWHERE:
        start, end = change - 2 * HOUR, change + 2 * HOUR
        minutes = [start + number * MINUTE for number in range(240)]
        found = list(quarters.occurrences(zone, start, end))
        assert [one.at for one in found] == [at for at in minutes if local(at, zone).minute % 15 == 0], (zone, change)
        assert len({one.label for one in found}) == len(found)


@pytest.mark.parametrize("zone", CHANGING)
def test_elapsed_hours_are_an_hour_apart(zone: str) -> None:
    for change in changes(zone):
        found = list(Every(1, "hour", local(change, zone) - 3 * DAY).occurrences(zone, change - DAY, change + DAY))
        assert {following.at - one.at for one, following in pairwise(found)} == {HOUR}
        assert len({one.label for one in found}) == len(found) == 48


EXPRESSIONS = ["30 2 * * *", "0 0 * * *", "45 1,2 * * *", "*/15 * * * *", "59 23 * * *", "5 * * * *"]


@pytest.mark.parametrize("zone", CHANGING)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_cronsim_differs_in_gaps_only_where_it_takes_the_end_of_the_gap(zone: str, expression: str) -> None:
    for change in changes(zone):
        start, end = change - DAY, change + DAY
        ours = Cron(expression).occurrences(zone, start, end)
        expected = dict.fromkeys(change if one.reading == "moved_forward" else one.at for one in ours)
        assert cronsim(expression, zone, start, end) == list(expected)


def test_cronsim_loses_an_even_hour_where_half_an_hour_repeats() -> None:
    """The reason why duebook does not let cronsim walk through a zone."""
    expression, zone, start = "0 */2 * * *", "Australia/Lord_Howe", datetime.fromisoformat("2026-04-04T14:00Z")
    ours = [one.at for one in Cron(expression).occurrences(zone, start, start + 4 * HOUR)]
    theirs = cronsim(expression, zone, start, start + 4 * HOUR)
    assert [f"{local(at, zone):%H:%M}" for at in ours] == ["02:00", "04:00"]
    assert [f"{local(at, zone):%H:%M}" for at in theirs] == ["04:00"]


def cronsim(expression: str, zone: str, start: datetime, end: datetime) -> list[datetime]:
    """What cronsim answers when it is asked to walk through the zone by itself."""
    walk = CronSim(expression, (start - timedelta(seconds=1)).astimezone(zones.zone(zone)))
    return list(takewhile(lambda at: at < end, (at.astimezone(UTC) for at in walk)))


FIELD = st.sampled_from(["*", "0", "30", "0,30", "5-50/15", "*/20"])
HOURS = st.sampled_from(["*", "0", "2", "1-3", "0,1,2,3", "23", "*/2", "0-23"])


@given(FIELD, HOURS, st.sampled_from(CHANGING), st.data())
def test_an_expression_comes_when_its_definition_says(minute: str, hour: str, zone: str, data: st.DataObject) -> None:
    change = data.draw(st.sampled_from(changes(zone)))
    start, end = change - DAY, change + DAY
    expression = f"{minute} {hour} * * *"
    defined: Callable[[str, str, datetime, datetime], set[datetime]] = by_clock if "*" in minute + hour else by_wall
    found = list(Cron(expression).occurrences(zone, start, end))
    assert [one.at for one in found] == sorted(defined(expression, zone, start, end))


def by_clock(expression: str, zone: str, start: datetime, end: datetime) -> set[datetime]:
    shown = set(walls(expression, zone, start, end))
    minutes = (start + number * MINUTE for number in range((end - start) // MINUTE))
    return {at for at in minutes if local(at, zone) in shown}


def by_wall(expression: str, zone: str, start: datetime, end: datetime) -> set[datetime]:
    return {at for wall in walls(expression, zone, start, end) if start <= (at := instant_of(wall, zone)) < end}


def walls(expression: str, zone: str, start: datetime, end: datetime) -> Iterator[datetime]:
    last = local(end, zone) + DAY
    return takewhile(lambda wall: wall < last, CronSim(expression, local(start, zone) - DAY))
