"""Does everything on record agree with everything that is promised?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

import typer

from ..domain.audited import Patience
from ..engine.auditor import EXAMPLES, Auditor, Report, Violation
from ..engine.settings import EngineSettings
from . import reading
from .exits import Exit
from .opening import Where, check_file, check_schema, open_book
from .output import Reply, plain
from .program import command
from .session import Session
from .wording import count

_NAMED = ("kind", "key")


@command("Operators", "duebook audit", "duebook audit --app app.notify:book --json", "duebook audit --overdue 1h")
async def audit(
    session: Session,
    overdue: Annotated[
        str, typer.Option("--overdue", help="How long after its time something due may wait without a reason.")
    ] = "15m",
    examples: Annotated[int, typer.Option("--examples", min=1, help="How many of each violation are shown.")] = 5,
) -> Reply:
    """Read everything on record and check it against everything that is promised; exit 1 if something does not hold.

    It only reads, and may look at a database in use. With --app the leases of the application are known.
    """
    wired, patience = session.book.wired, Patience(overdue=reading.span("overdue", overdue))
    auditor = Auditor(wired.database, wired.store, wired.settings, patience, examples=examples)
    total = await session.ask(wired.store.audit_size())
    with session.screen.progress("auditing", total or None) as advance:
        report = await auditor.report(advance)
    document = {
        "ok": report.clean,
        "read": dict(report.read),
        "violations": {name: report.counts[name] for name in sorted(report.counts)},
        "examples": plain(report.violations),
        "explained": dict(report.explained),
    }
    return Reply(document, list(_told(report)), Exit.DONE if report.clean else Exit.REFUSED)


async def violations(
    url: str, *, settings: EngineSettings | None = None, patience: Patience | None = None, examples: int = EXAMPLES
) -> list[Violation]:
    """Audit the database of a URL and return what does not hold, of each check the first few; empty if all is well."""
    book = open_book(Where(url))
    try:
        check_file(book)
        await check_schema(book)
        auditor = Auditor(book.wired.database, book.wired.store, settings, patience, examples=examples)
        return (await auditor.report()).violations
    finally:
        await book.close()


def _told(report: Report) -> Iterator[str]:
    for name, shown in sorted(report.examples.items()):
        yield f"{name}: {count(report.counts[name], 'violation')}"
        for violation in shown:
            yield f"  {violation.subject}: {violation.found}"
            yield f"    {_row(violation.row)}"
        if len(shown) < report.counts[name]:
            yield f"  … and {report.counts[name] - len(shown):,} more"
    for reason, number in report.explained.most_common():
        yield f"Overdue and explained: {number:,}, {reason}."
    read = ", ".join(f"{number:,} of {name}" for name, number in report.read.items()) or "nothing, as there is nothing"
    yield f"Read {read}. " + ("Everything holds." if report.clean else f"{_all(report)} in all.")


def _all(report: Report) -> str:
    return count(sum(report.counts.values()), "violation")


def _row(row: Mapping[str, Any]) -> str:
    """Return what a row holds, without what it does not."""
    held = ((name, value) for name, value in row.items() if name not in _NAMED and value not in (None, False, []))
    return " ".join(f"{name}={_short(value)}" for name, value in held)


def _short(value: Any) -> str:
    if isinstance(value, datetime):
        return str(plain(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(" ".join(str(part) for part in item if part is not None) for item in value) + "]"
    return str(value)
