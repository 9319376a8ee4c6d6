"""When: the occurrences of a cron expression, an RRULE or a step, and the instant of a wall time. Needs no database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice, takewhile
from typing import Annotated, TypeVar

import typer

from ..clock import SystemClock
from ..domain.recurrence import EARLIEST, Cron, Every, Recurrence, Rrule, Unit, checked_instant
from ..domain.walltime import Disambiguation, LocalTime, promise, resolve
from ..errors import InvalidInput
from . import reading, timetable
from .options import Json
from .output import Reply, Screen, Table
from .program import concluded, helped, program

T = TypeVar("T")

SHOWN = 20
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """Which occurrences, how many of them, and for whom."""

    since: str | None
    until: str | None
    limit: int | None
    as_json: bool

    def first_of(self, found: Iterable[T]) -> tuple[Sequence[T], bool]:
        """Return as many as are asked for, and whether there are more."""
        most = self.limit or (MOST if self.as_json and self.until else SHOWN)
        first = list(islice(found, most + 1))
        if self.limit is None and len(first) > MOST:
            raise InvalidInput("until", f"leaves more than {MOST:,}; choose an earlier one, or give --limit")
        return first[:most], len(first) > most


when = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
program.add_typer(when, name="when", rich_help_panel="Owners", help=helped(
    """Preview when something comes, with the rules that schedules go by. Needs no database.

    A time without an offset is local to --zone. --from is inclusive and --until exclusive; a date stands for all of
    that day.
    """,
    'duebook when cron "30 2 * * *" --zone America/New_York --from 2026-03-07 --until 2026-03-10',
    'duebook when wall "2026-03-08 02:30" --zone America/New_York',
))  # fmt: skip

Zone = Annotated[str, typer.Option("--zone", help="The zone, such as America/New_York.")]
From = Annotated[str | None, typer.Option("--from", help="The first that counts, as an ISO time or a date.")]
Until = Annotated[str | None, typer.Option("--until", help="The first that does not count; a date is included.")]
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, max=MOST, help=f"At most so many: by default {SHOWN}, with --json and --until all of them."
    ),
]


@when.command("cron", help=helped(
    """List the occurrences of a cron expression, from now on unless --from says otherwise.""",
    'duebook when cron "0 9 * * MON-FRI" --zone Europe/Berlin',
    'duebook when cron "*/30 * * * *" --zone America/New_York --from 2026-11-01 --until 2026-11-01 --json',
))  # fmt: skip
def cron(
    expression: Annotated[str, typer.Argument(metavar="EXPRESSION", help="Five fields, in quotes.")],
    zone: Zone,
    since: From = None,
    until: Until = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    def listed() -> Reply:
        return _listed(Cron(expression), zone, SystemClock().now(), Asked(since, until, limit, json))

    _answer(listed, json)


@when.command("rrule", help=helped(
    """List the occurrences of an RRULE, from its start on unless --from says otherwise.""",
    'duebook when rrule "FREQ=MONTHLY;BYDAY=-1FR" --start "2027-01-29 09:00" --zone Europe/Berlin',
))  # fmt: skip
def rrule(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="One RRULE, in quotes.")],
    start: Annotated[str, typer.Option("--start", help="Its DTSTART, a local time without an offset.")],
    zone: Zone,
    since: From = None,
    until: Until = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    def listed() -> Reply:
        recurrence = Rrule(rule, reading.wall("start", start))
        return _listed(recurrence, zone, resolve(recurrence.start, zone), Asked(since, until, limit, json))

    _answer(listed, json)


@when.command("every", help=helped(
    """List what comes every so many units after an anchor, which is not listed itself.

    From a date come dates, and --until is included. From a date and a time of day come instants, and --zone is needed.
    """,
    "duebook when every --n 1 --unit month --anchor 2027-01-31 --until 2027-12-31",
    'duebook when every --n 36 --unit hour --anchor "2027-01-14 09:00" --zone Europe/Berlin',
))  # fmt: skip
def every(
    n: Annotated[int, typer.Option("--n", help="How many units apart.")],
    unit: Annotated[Unit, typer.Option("--unit", help="The unit.")],
    anchor: Annotated[str, typer.Option("--anchor", help="What is counted from: a date, or a local time.")],
    zone: Annotated[str | None, typer.Option("--zone", help="The zone, if the anchor has a time of day.")] = None,
    since: From = None,
    until: Until = None,
    limit: Limit = None,
    json: Json = False,
) -> None:
    def listed() -> Reply:
        counted_from = reading.day("anchor", anchor)
        if not isinstance(counted_from, datetime):
            return _dates(Every(n, unit, _midnight(counted_from)), Asked(since, until, limit, json))
        if zone is None:
            raise InvalidInput("zone", "is missing: an anchor with a time of day belongs to a zone")
        recurrence = Every(n, unit, counted_from)
        return _listed(recurrence, zone, resolve(recurrence.anchor, zone), Asked(since, until, limit, json))

    _answer(listed, json)


@when.command("wall", help=helped(
    """Tell which instant a local time means.""",
    'duebook when wall "2026-03-08 02:30" --zone America/New_York',
    'duebook when wall "2026-11-01 01:30" --zone America/New_York --rule later --json',
))  # fmt: skip
def wall(
    local: Annotated[str, typer.Argument(metavar="TIME", help="A date and a time of day, without an offset.")],
    zone: Zone,
    rule: Annotated[
        Disambiguation,
        typer.Option("--rule", "--disambiguation", help="For times that do not exist or happen twice."),
    ] = "compatible",
    json: Json = False,
) -> None:
    def told() -> Reply:
        meant = reading.moment("at", local, zone, rule)
        assert isinstance(meant, LocalTime)
        at = promise(meant).due_at
        how = timetable.reading(meant.wall, zone, at)
        return Reply({"utc": at, "rule": how}, [timetable.table([timetable.row(meant.wall, at, how, zone)])])

    _answer(told, json)


def _answer(work: Callable[[], Reply], as_json: bool) -> None:
    raise typer.Exit(concluded(work, Screen(as_json)))


def _listed(recurrence: Recurrence, zone: str, default: datetime, asked: Asked) -> Reply:
    """Return the occurrences in a zone; they begin at `default` if --from is not given."""
    start = max(default, EARLIEST)
    if asked.since is not None:
        start = checked_instant("from", _bound("from", asked.since, zone))
    end = None if asked.until is None else _bound("until", asked.until, zone, ends=True)
    found, more = asked.first_of(recurrence.occurrences(zone, start, end))
    if asked.as_json:
        return Reply([one.at for one in found])
    rows = [timetable.row(datetime.fromisoformat(one.label), one.at, one.reading, zone) for one in found]
    return _shown(timetable.table(rows), more)


def _dates(every: Every, asked: Asked) -> Reply:
    walls = every.walls(every.anchor if asked.since is None else _midnight(reading.day("from", asked.since)))
    if asked.until is not None:
        last = _midnight(reading.day("until", asked.until))
        walls = takewhile(lambda wall: wall <= last, walls)
    found, more = asked.first_of(wall.date() for wall in walls)
    if asked.as_json:
        return Reply([day.isoformat() for day in found])
    return _shown(Table(["date", "day"], [[day.isoformat(), f"{day:%A}"] for day in found]), more)


def _shown(table: Table, more: bool) -> Reply:
    if not table.rows:
        return Reply(None, ["None in this time."])
    ending = [f"There are more; these are the first {len(table.rows)} (--limit)."] if more else []
    return Reply(None, [table, *ending])


def _bound(field: str, text: str, zone: str, *, ends: bool = False) -> datetime:
    """Return the instant of an ISO time. A date is the beginning of its day, or its end if a span `ends` there."""
    try:
        if (day := _date(text)) is not None:
            return resolve(_midnight(day) + timedelta(days=ends), zone)
        at = reading.instant(field, text, zone)
    except OverflowError:
        raise InvalidInput(field, f"{text!r} is at the end of the calendar; is the year right?") from None
    assert at is not None
    return at


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time())
