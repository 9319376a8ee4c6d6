"""The `duebook` command. Importing this costs nothing; typer and rich are loaded when a command runs."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with one of the codes of exits.py."""
    from .program import run

    raise SystemExit(run(arguments))
