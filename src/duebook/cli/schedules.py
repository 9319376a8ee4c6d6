"""Recurring schedules: made, held, let go, removed, looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

import typer

from ..domain.policy import Kind
from ..domain.recurrence import Cron, Every, Occurrence, Recurrence, Rrule, Unit, dump
from ..domain.schedules import CatchUp, Schedule
from ..domain.spreading import offset
from ..errors import InvalidInput
from ..features.schedules import MOST, ScheduleAnswer
from . import paging, reading, timetable
from .exits import Exit
from .options import Data, KindOption, Reason, Recipient, Tenant, Told
from .output import Reply, Table, plain
from .program import group
from .session import Session
from .wording import instant, span

COMING = 5

schedules = group(
    "schedules",
    "Owners",
    "Tell the same people again and again: recurring schedules.",
    'duebook schedules set digest/ann --kind digest --recipient ann --cron "0 9 * * MON" --zone Europe/Berlin',
    "duebook schedules show digest/ann",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule, such as digest/acct-1842.")]


@schedules(
    'duebook schedules set digest/acct-1842 --kind digest --recipient acct-1842 --cron "0 9 * * MON" '
    "--zone Europe/Berlin",
    'duebook schedules set payday --kind payday --recipient staff --rrule "FREQ=MONTHLY;BYDAY=-1FR" '
    '--start "2027-01-01 09:00" --zone America/New_York',
    'duebook schedules set backup --kind check --recipient ops --every 2 --unit week --anchor "2027-01-04 08:00" '
    "--zone UTC",
    name="set",
)
async def set_schedule(
    session: Session,
    name: Name,
    kind: Annotated[str, typer.Option("--kind", help="A kind, such as digest.")],
    recipient: Told,
    zone: Annotated[str, typer.Option("--zone", help="Whose wall clock it follows, such as Europe/Berlin.")],
    cron: Annotated[str | None, typer.Option("--cron", help='Five fields, such as "30 9 * * MON-FRI".')] = None,
    rrule: Annotated[str | None, typer.Option("--rrule", help="A rule of RFC 5545; needs --start.")] = None,
    start: Annotated[str | None, typer.Option("--start", help="With --rrule: its DTSTART, a wall time.")] = None,
    every: Annotated[int | None, typer.Option("--every", min=1, help="Every so many of --unit after --anchor.")] = None,
    unit: Annotated[Unit | None, typer.Option("--unit", help="With --every.")] = None,
    anchor: Annotated[str | None, typer.Option("--anchor", help="With --every: counted from this wall time.")] = None,
    data: Data = None,
    tenant: Tenant = None,
    catch_up: Annotated[CatchUp, typer.Option("--catch-up", help="What to do about missed periods.")] = "latest",
    max_lateness: Annotated[
        str | None, typer.Option("--max-lateness", help="A period later than this is skipped, such as 12h.")
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="How many periods --catch-up all makes up for.")] = MOST,
    until: Annotated[
        str | None, typer.Option("--until", help="Its end: an ISO time with offset, or in --zone.")
    ] = None,
) -> Reply:
    """Create a schedule, or change the one of this name; saying the same again changes nothing.

    A change holds from now on. Of periods that come while no worker runs, the newest is sent unless --catch-up says
    otherwise.
    """
    await session.kind(kind)
    answer = await session.verbs.schedules.set(
        name, kind=kind, recipient=recipient, recurrence=_recurrence(cron, rrule, start, every, unit, anchor),
        zone=zone, data=reading.mapping("data", data), tenant=tenant, catch_up=catch_up,
        max_lateness=None if max_lateness is None else reading.span("max_lateness", max_lateness), most=most,
        until=reading.instant("until", until, zone),
    )  # fmt: skip
    return _answered(answer)


def _recurrence(
    cron: str | None, rrule: str | None, start: str | None, every: int | None, unit: Unit | None, anchor: str | None
) -> Recurrence:
    """Return the recurrence meant by the options: one of three ways to say it, each with what belongs to it."""
    match cron, rrule, start, every, unit, anchor:
        case str(), None, None, None, None, None:
            return Cron(cron)
        case None, str(), str(), None, None, None:
            return Rrule(rrule, reading.wall("start", start))
        case None, None, None, int(), str(), str():
            return Every(every, unit, reading.wall("anchor", anchor))
    ways = '--cron "0 9 * * MON", or --rrule and --start, or --every, --unit and --anchor'
    raise InvalidInput("cron", f"say how it comes again in one way: {ways}")


@schedules('duebook schedules pause digest/acct-1842 --reason "on holiday"')
async def pause(session: Session, name: Name, reason: Reason) -> Reply:
    """Let a schedule rest. What comes meanwhile is skipped, on record."""
    await _know_kind(session, name)
    return _answered(await session.verbs.schedules.pause(name, reason=reason), "is paused already")


@schedules("duebook schedules resume digest/acct-1842")
async def resume(session: Session, name: Name) -> Reply:
    """Let a paused schedule go on with the next period from now; what came meanwhile stays skipped."""
    await _know_kind(session, name)
    return _answered(await session.verbs.schedules.resume(name), "is not paused")


@schedules('duebook schedules remove digest/acct-1842 --reason "the account was closed"')
async def remove(session: Session, name: Name, reason: Reason = "its schedule was removed") -> Reply:
    """Remove a schedule, and cancel what it has made and nobody has begun.

    A later one of the same name never repeats a period of this one.
    """
    return _answered(await session.verbs.schedules.remove(name, reason=reason))


async def _know_kind(session: Session, name: str) -> None:
    """What has come by now is made before a schedule rests or goes on, so its kind must be known."""
    if (one := await session.verbs.schedules.find(name)) is not None:
        await session.kind(one.kind)


def _answered(answer: ScheduleAnswer, unchanged: str = "is like that already; nothing was changed") -> Reply:
    if not answer:
        return Reply(plain(answer), [f"There is no schedule {answer.name}."], Exit.REFUSED)
    done = unchanged if answer.result == "unchanged" else f"is {answer.result}"
    following = f"; next at {instant(answer.next_at)}" if answer.next_at else ""
    return Reply(plain(answer), [f"Schedule {answer.name} {done}{following}."])


@schedules("duebook schedules show digest/acct-1842")
async def show(session: Session, name: Name) -> Reply:
    """Show a schedule and its next five occurrences, in its own time and in UTC."""
    one = await session.verbs.schedules.find(name)
    if one is None:
        return Reply({"name": name, "result": "not_found"}, [f"There is no schedule {name}."], Exit.REFUSED)
    coming = _coming(one, session.book.wired.clock.now())
    document = {"schedule": _document(one), "coming": plain(coming)}
    spread = _spread(one, session.book.registry.kinds.get(one.kind))
    return Reply(document, [*_described(one), *spread, "", *_listed(one, coming)])


def _coming(one: Schedule, now: datetime) -> list[Occurrence]:
    start = max(one.cursor_at, now)
    return list(islice(one.recurrence.occurrences(one.zone, start, one.until_at), COMING))


def _described(one: Schedule) -> list[str]:
    late = f", nothing later than {span(one.max_lateness)}" if one.max_lateness else ""
    most = f", at most {one.most:,}" if one.catch_up == "all" else ""
    lines = [
        f"{one.name}: kind {one.kind}, to {one.recipient}{f', tenant {one.tenant}' if one.tenant else ''}",
        f"{_words(one.recurrence)}, in {one.zone}{f', until {instant(one.until_at)}' if one.until_at else ''}",
        f"Missed periods: {one.catch_up}{most}{late}.",
        f"Changed {instant(one.changed_at)} by {one.changed_by}.",
    ]
    if one.paused_at is not None:
        lines.append(f"Paused since {instant(one.paused_at)}: {one.reason}. What follows holds if it goes on now.")
    return lines


def _listed(one: Schedule, coming: Sequence[Occurrence]) -> list[str | Table]:
    if not coming:
        return ["It has ended: nothing comes any more."]
    rows = [timetable.row(datetime.fromisoformat(each.label), each.at, each.reading, one.zone) for each in coming]
    return [f"Next, in {one.zone}:", timetable.table(rows)]


def _spread(one: Schedule, kind: Kind | None) -> list[str]:
    """Say what is known of a spread: only the app declares it."""
    if kind is None or kind.spread is None:
        return []
    return [f"Kind {kind.name} is spread: this one is due {span(offset(kind.name, one.recipient, kind.spread))} later."]


def _words(recurrence: Recurrence) -> str:
    match recurrence:
        case Cron(expression):
            return f"cron {expression}"
        case Rrule(rule, start):
            return f"{rule} from {start:%Y-%m-%d %H:%M}"
        case Every(n, unit, anchor):
            return f"every {f'{n:,} {unit}s' if n > 1 else unit} after {anchor:%Y-%m-%d %H:%M}"


def _document(one: Schedule) -> dict[str, Any]:
    document: dict[str, Any] = plain(one)
    return document | {"recurrence": json.loads(dump(one.recurrence)), "data": json.loads(one.data)}


@schedules("duebook schedules list --kind digest", "duebook schedules list --recipient acct-1842 --json", name="list")
async def list_schedules(session: Session, kind: KindOption = None, recipient: Recipient = None) -> Reply:
    """List all schedules, in the order of their names."""

    async def read(after: str) -> Sequence[Schedule]:
        return await session.verbs.schedules.search(kind=kind, recipient=recipient, after=after, limit=paging.PAGE)

    found = paging.pages(read, "", lambda one: one.name)
    return await paging.told(session.screen, "schedules", found, _document, _table)


def _table(page: Sequence[Schedule]) -> Table:
    rows = [[one.name, one.kind, one.recipient, _words(one.recurrence), one.zone, _next(one)] for one in page]
    return Table(["name", "kind", "recipient", "comes", "zone", "next"], rows)


def _next(one: Schedule) -> str:
    if one.next_at is not None:
        return instant(one.next_at)
    return "paused" if one.paused_at is not None else "has ended"
