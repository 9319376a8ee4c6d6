"""The arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

SHARED_PANEL = "Which database, and how to answer"

KindName = Annotated[str, typer.Argument(metavar="KIND", help="The kind, such as renewal.")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="The business key, such as sub-1842/2027.")]
Reason = Annotated[str, typer.Option("--reason", help="Why. It stays on record.")]
At = Annotated[str | None, typer.Option("--at", help="A wall time with --zone, or an ISO time with its offset.")]
After = Annotated[str | None, typer.Option("--after", help="From now, such as 90s, 15m, 1h30m or 3d.")]
Zone = Annotated[str | None, typer.Option("--zone", help="The zone of --at, such as America/New_York.")]
Rule = Annotated[
    str,
    typer.Option("--rule", help="For wall times that do not exist or happen twice: compatible, earlier, later, raise."),
]
Recipient = Annotated[str | None, typer.Option("--recipient", help="A recipient, by your own name for them.")]
Told = Annotated[str, typer.Option("--recipient", help="Who is told, by your own name for them.")]
Data = Annotated[str | None, typer.Option("--data", help="A JSON object for the handler.")]
Tenant = Annotated[str | None, typer.Option("--tenant", help="A label for filters and erasure.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Check every row; store nothing.")]
Strict = Annotated[bool, typer.Option("--strict", help="All or none, in one transaction.")]
CsvFile = Annotated[str, typer.Argument(metavar="FILE", help="A CSV file in UTF-8, or - for standard input.")]
RowsZone = Annotated[str | None, typer.Option("--zone", help="The zone of rows that name none.")]
ExpiresAt = Annotated[
    str | None, typer.Option("--expires-at", help="Worth nothing afterwards: an ISO time with offset, or in --zone.")
]
Channel = Annotated[str | None, typer.Option("--channel", help="A channel, such as email.")]
KindOption = Annotated[str | None, typer.Option("--kind", help="A kind, such as renewal.")]

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        help="sqlite:///file.db or postgresql://…; by default $DUEBOOK_URL.",
        rich_help_panel=SHARED_PANEL,
    ),
]
App = Annotated[
    str | None,
    typer.Option(
        "--app",
        metavar="MODULE:BOOK",
        help="The application's book, with its kinds and their policies; by default $DUEBOOK_APP.",
        rich_help_panel=SHARED_PANEL,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.", rich_help_panel=SHARED_PANEL)]
