"""Making and updating duebook's tables."""

from __future__ import annotations

from typing import Annotated

import typer

from ..stores import catalog
from ..stores.rows import instant_text
from .opening import check_schema
from .output import Reply
from .program import command
from .session import Session

_TABLE = {"sqlite": "duebook_migrations", "postgres": "duebook.migrations"}


@command(
    "Operators",
    "duebook migrate --database sqlite:///app.db",
    "duebook migrate --sql --database postgresql://app@db/app > duebook.sql",
    ready=False,
)
async def migrate(
    session: Session,
    sql: Annotated[bool, typer.Option("--sql", help="Print the SQL instead, for somebody else to run.")] = False,
    since: Annotated[
        int, typer.Option("--since", min=0, help="With --sql: only what follows this schema version.")
    ] = 0,
    queue: Annotated[
        bool, typer.Option("--queue", help="Also make the index that workers with a broker look by.")
    ] = False,
) -> Reply:
    """Create or update duebook's tables, beside those of your application.

    On PostgreSQL they live in a schema of their own, on SQLite they carry a prefix. Running it again is harmless.
    """
    book = session.book
    dialect = book.wired.database.dialect
    if sql:
        return _printed(dialect, since, instant_text(book.wired.clock.now()))
    applied = await book.migrate()
    version = await check_schema(book)
    lines = [f"Applied: {name}." for name in applied]
    lines.append(f"The schema is at version {version}.")
    if queue:
        await session.ask(book.wired.store.index_unpublished())
        lines.append("What no broker has been told of is indexed.")
    return Reply({"applied": applied, "schema": version, "queue": queue}, lines)


def _printed(dialect: catalog.Dialect, since: int, now: str) -> Reply:
    texts = [
        (version, name, f"begin;\n\n{text.strip()}\n\n{_note(dialect, version, name, now)}\n\ncommit;")
        for version, name, text in catalog.migrations(dialect)
        if version > since
    ]
    document = {
        "dialect": dialect,
        "migrations": [{"version": version, "name": name, "sql": text} for version, name, text in texts],
    }
    return Reply(document, [text for _, _, text in texts] or [f"-- nothing follows version {since}"])


def _note(dialect: catalog.Dialect, version: int, name: str, now: str) -> str:
    return f"insert into {_TABLE[dialect]} values ({version}, '{name}', '{now}');"
