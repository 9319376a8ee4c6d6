"""Looking for set-ups that would break a promise: each finding says what it means and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from ..domain import zones
from ..domain.policy import Kind
from ..engine.settings import EngineSettings
from ..errors import DuebookError, SchemaMismatch, StoreUnavailable
from ..ports import QueueHealth
from ..stores.sqlite.database import SqliteDatabase, wal_is_safe
from . import probes
from .exits import Exit
from .failing import failure, masked
from .opening import check_file, check_schema
from .output import Reply, plain
from .program import command
from .session import Session
from .wording import count, span

Level = Literal["good", "advice", "problem"]

SKEW_ADVICE = timedelta(seconds=1)
OLD_ZONES = timedelta(days=365)
OLDEST_POSTGRES = 13
ZONE_RELEASE_DAYS = 60

_MARKS: dict[Level, str] = {"good": "good   ", "advice": "advice ", "problem": "PROBLEM"}


@dataclass(frozen=True, slots=True)
class Finding:
    """`means` and `todo` are empty where all is good."""

    level: Level
    topic: str
    found: str
    means: str = ""
    todo: str = ""


@command("Operators", "duebook doctor", "duebook doctor --app app.notify:book --json", ready=False)
async def doctor(session: Session) -> Reply:
    """Examine database, settings and zone data; exit 1 if something would break a promise.

    With --app the kinds, channels and leases of the application are examined too.
    """
    book = session.book
    check_file(book)
    findings = [await _schema(session)]
    database = book.wired.database
    if isinstance(database, SqliteDatabase):
        findings += sqlite(probes.sqlite(database.path))
    else:
        findings += postgres(await probes.postgres(database.url, book.wired.clock), book.wired.settings)
    findings.append(zone_data(zones.version(), book.wired.clock.now()))
    readable = findings[0].level == "good"
    if readable:
        findings.append(await _promises(session))
        async with database.incarnation() as found:
            findings.append(restores(found is not None))
    if book.wired.queue is not None:
        findings.append(broker(await book.wired.queue.health(book.wired.queue_names())))
        if readable:
            findings.append(unpublished(await session.ask(book.wired.store.read_unpublished_index())))
    if session.knows_app:
        findings += _app(session)
        if readable:
            findings += await _orphans(session)
    problem = any(finding.level == "problem" for finding in findings)
    lines = [f"Database {masked(book.url)}"]
    for finding in findings:
        lines.append(f"{_MARKS[finding.level]}  {finding.topic}: {finding.found}")
        lines += [f"           {said}" for said in (finding.means, finding.todo) if said]
    if not session.knows_app:
        lines.append("Kinds, channels and leases were not examined: they are in the app (--app module:book).")
    return Reply({"ok": not problem, "findings": plain(findings)}, lines, Exit.REFUSED if problem else Exit.DONE)


async def _schema(session: Session) -> Finding:
    try:
        version = await check_schema(session.book)
    except SchemaMismatch as error:
        return Finding("problem", "schema", str(error), "Nothing can be scheduled or sent.", "Run: duebook migrate")
    except StoreUnavailable:
        raise
    except Exception as error:
        known = failure(error)
        if known is None:
            raise
        return Finding("problem", "schema", "it could not be read", known.error, "See what else is said here.")
    return Finding("good", "schema", f"version {version}, as this release needs")


def sqlite(seen: probes.Sqlite) -> Iterator[Finding]:
    """Judge an SQLite library and the file's settings."""
    release = ".".join(map(str, seen.release))
    if wal_is_safe(seen.release):
        yield Finding("good", "SQLite", f"release {release} is free of the WAL-reset bug")
    elif seen.journal_mode == "wal":
        yield Finding(
            "problem", "SQLite", f"release {release} has the WAL-reset bug, and the file is in WAL mode",
            "When two connections write and checkpoint at once, the file can be corrupted.",
            "Leave WAL (pragma journal_mode = truncate), or use SQLite 3.51.3, 3.50.7, 3.44.6 or newer.",
        )  # fmt: skip
    else:
        yield Finding(
            "good", "SQLite", f"release {release} has the WAL-reset bug; duebook therefore uses the rollback journal",
            "Safe, and slower: readers wait for the writer.",
            "SQLite 3.51.3, 3.50.7, 3.44.6 or newer lets duebook use WAL. Never switch to WAL on this one.",
        )  # fmt: skip
    yield Finding("good", "journal", f"mode {seen.journal_mode}")
    if seen.synchronous in ("full", "extra"):
        yield Finding("good", "synchronous", seen.synchronous)
    else:
        yield Finding(
            "advice", "synchronous", f"connections that set nothing get {seen.synchronous}",
            "duebook's own use full. After a power cut, what your application scheduled through using() may be gone.",
            "Set pragma synchronous = full on your application's connections.",
        )  # fmt: skip


def broker(seen: QueueHealth) -> Finding:
    """Judge the broker by what it says of itself."""
    if not seen.reachable:
        return Finding(
            "problem", "broker", seen.detail,
            "Workers do not start; those that run send what is due from the database, looking every second.",
            "Start the broker, or correct DUEBOOK_QUEUE. Nothing is lost meanwhile.",
        )  # fmt: skip
    if seen.set_aside:
        return Finding(
            "advice", "broker", f"{seen.detail}; {count(seen.set_aside, 'message')} that were none of ours set aside",
            "Somebody else writes into duebook's queues.", "See which program that is, and give it queues of its own.",
        )  # fmt: skip
    return Finding("good", "broker", seen.detail)


def unpublished(indexed: bool) -> Finding:
    """Judge how the promoter finds what no broker has been told of."""
    if indexed:
        return Finding("good", "promoter", "what no broker has been told of is indexed")
    return Finding(
        "advice", "promoter", "there is no index of what no broker has been told of",
        "The promoter looks through all that is due soon, four times a second.", "Run: duebook migrate --queue",
    )  # fmt: skip


def postgres(seen: probes.Postgres, settings: EngineSettings) -> Iterator[Finding]:
    """Judge a PostgreSQL server and the way to it."""
    major = int(seen.settings["server_version_num"]) // 10_000
    version = seen.settings["server_version"]
    if major >= OLDEST_POSTGRES:
        yield Finding("good", "PostgreSQL", f"release {version}")
    else:
        yield Finding(
            "problem", "PostgreSQL", f"release {version}", "duebook is not tested with it, and it gets no more fixes.",
            f"Upgrade to {OLDEST_POSTGRES} or newer.",
        )  # fmt: skip
    yield _durability(seen.settings)
    yield _skew(seen, settings)
    yield from _way(seen)


def _durability(settings: dict[str, str]) -> Finding:
    off = [name for name in ("fsync", "full_page_writes") if settings[name] == "off"]
    if off:
        return Finding(
            "problem", "durability", f"{' and '.join(off)} off",
            "After a crash of the server the database may be corrupt, and sent messages may be sent again.",
            f"Set {' and '.join(f'{name} = on' for name in off)}. Only a database of tests may do without.",
        )  # fmt: skip
    if settings["synchronous_commit"] == "off":
        return Finding(
            "problem", "durability", "synchronous_commit is off",
            "A crash may forget the last moments: an attempt that began is then repeated, and somebody gets two.",
            "Set synchronous_commit = on, for duebook's role at least: alter role … set synchronous_commit = on",
        )  # fmt: skip
    return Finding("good", "durability", f"fsync on, synchronous_commit {settings['synchronous_commit']}")


def _skew(seen: probes.Postgres, settings: EngineSettings) -> Finding:
    ahead = "ahead of" if seen.skew > timedelta(0) else "behind"
    found = f"the server is {span(seen.skew)} {ahead} this host (measured to {span(seen.trip / 2)})"
    skew = abs(seen.skew)
    if skew <= SKEW_ADVICE + seen.trip / 2:
        return Finding("good", "clocks", found)
    means = "Workers follow the server's clock; programs that only schedule use their own for after=…"
    level: Level = "problem" if skew > settings.lease else "advice"
    return Finding(level, "clocks", found, means, "Have both follow NTP.")


def _way(seen: probes.Postgres) -> Iterator[Finding]:
    direct = "Give duebook a direct connection, or a pool in session mode."
    if seen.pooled:
        yield Finding(
            "problem", "pooling", "a pooler by transaction (such as PgBouncer) is in between",
            "LISTEN is lost, so wake-ups wait for polling, and prepared statements may fail.", direct,
        )  # fmt: skip
    elif seen.proxied:
        yield Finding("good", "pooling", "a pooler is in between, and it keeps sessions whole")
    else:
        yield Finding("good", "pooling", "the connection is direct")
    if seen.heard:
        yield Finding("good", "LISTEN", "wake-ups come through")
    else:
        yield Finding(
            "problem", "LISTEN", f"a NOTIFY was not heard within {probes.LISTEN_SECONDS:g} s",
            "Nothing is lost, but what is scheduled for now waits for the next poll.", direct,
        )  # fmt: skip


def zone_data(version: str, now: datetime) -> Finding:
    """Judge the age of zone rules by their name: about six releases a year, lettered from a."""
    letter = version[4:5] or "a"
    released = datetime(int(version[:4]), 1, 1, tzinfo=now.tzinfo)
    released += min(timedelta(days=364), timedelta(days=ZONE_RELEASE_DAYS) * (ord(letter) - ord("a")))
    age = now - released
    if age <= OLD_ZONES:
        return Finding("good", "zones", f"rules of tzdata {version}")
    return Finding(
        "advice", "zones", f"rules of tzdata {version} are more than a year old",
        "Governments change zones several times a year; a wall time there may be an hour off.",
        "pip install --upgrade tzdata, then restart the workers.",
    )  # fmt: skip


async def _promises(session: Session) -> Finding:
    """Look for pending local promises that other zone rules gave their instant."""
    wired = session.book.wired
    number = await session.ask(wired.store.count_retimable(zones.version(), wired.clock.now()))
    if not number:
        return Finding("good", "promises", "every pending wall time was resolved by these rules")
    return Finding(
        "advice", "promises", f"{count(number, 'pending wall time was', 'pending wall times were')} resolved by others",
        "Where the rules differ they are due at another time than was promised.", "Run: duebook retime --dry-run",
    )  # fmt: skip


def restores(told_apart: bool) -> Finding:
    """Judge whether a restored copy would be noticed."""
    if told_apart:
        return Finding(
            "good", "restores", "another database in its place is noticed, and pauses everything until duebook resume"
        )
    return Finding("advice", "restores", "this database does not say which it is; after a restore, duebook pause first")


def _app(session: Session) -> Iterator[Finding]:
    registry, settings = session.book.registry, session.book.wired.settings
    for kind in registry.kinds.values():
        yield from _kind(kind, session)
    for name, channel in registry.channels.items():
        longest = channel.policy.send_seconds
        if longest > settings.lease_seconds:
            yield Finding(
                "advice", f"channel {name}", f"a send may take {longest:g} s, a lease {settings.lease_seconds:g} s",
                "A worker that stalls during a send is taken for dead while its message may still leave; it is then "
                "uncertain.",
                f"Set lease_seconds to at least {longest:g}, or send_seconds lower.",
            )  # fmt: skip
        else:
            yield Finding(
                "good", f"channel {name}", f"a send ({longest:g} s) fits a lease ({settings.lease_seconds:g} s)"
            )


def _kind(kind: Kind, session: Session) -> Iterator[Finding]:
    registry = session.book.registry
    topic = f"kind {kind.name}"
    policy = registry.policy(kind.channel)
    if policy is None:
        yield Finding(
            "problem" if kind.name in registry.handlers else "advice", topic,
            f"its channel {kind.channel!r} is not registered",
            "No worker of this app can send it.", f"book.add_channel({kind.channel!r}, …), or name another channel.",
        )  # fmt: skip
    elif kind.on_uncertain == "resend" and policy.key_window is None:
        yield Finding(
            "problem", topic, f"on_uncertain is 'resend', and channel {kind.channel!r} states no key_window",
            "Its provider would not notice a repeat, so a worker refuses to start.",
            "Use 'hold' or 'assume_sent', or state the window.",
        )  # fmt: skip
    elif kind.name not in registry.handlers:
        yield Finding(
            "advice", topic, "it is declared without a handler", "This app schedules it; another program must serve it."
        )
    else:
        yield Finding("good", topic, f"served over channel {kind.channel}")


async def _orphans(session: Session) -> list[Finding]:
    """Find kinds with open notifications that the app does not know."""
    try:
        counts = await session.ask(session.book.wired.store.count_states())
    except DuebookError as error:
        return [Finding("problem", "kinds", str(error))]
    strange = sorted({row[0] for row in counts} - session.book.registry.kinds.keys())
    return [
        Finding(
            "problem", f"kind {name}", "has open notifications, and the app does not know it",
            "No worker of this app will send them.", "Register the kind again, or cancel what is open.",
        )
        for name in strange
    ]  # fmt: skip
