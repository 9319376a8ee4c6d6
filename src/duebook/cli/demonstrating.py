"""The demo, registered here and kept elsewhere: nothing of it is loaded unless it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .program import helped, program


@program.command("demo", rich_help_panel="Try it", help=helped(
    """See it work on this machine in under a minute: schedule, send, crash, recover, explain.

    It needs no database and no mail server: it makes both, in a folder of its own.
    """,
    "duebook demo",
    "duebook demo --accounts 5",
))  # fmt: skip
def demo(
    folder: Annotated[Path, typer.Option("--folder", help="Made anew; database and mails stay in it.")] = Path(
        "duebook-demo"
    ),
    accounts: Annotated[int | None, typer.Option("--accounts", min=1, help="Only so many of the accounts.")] = None,
) -> None:
    from .demo import run

    raise typer.Exit(run(folder, accounts))
