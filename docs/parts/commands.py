"""The command line."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from .tables import table


def commands() -> dict[str, Any]:
    """Return every command by its name, such as "find" or "schedules set".

    The modules of the package register them when they are imported.
    """
    from typer.main import get_command

    import duebook.cli

    for module in pkgutil.iter_modules(duebook.cli.__path__, "duebook.cli."):
        importlib.import_module(module.name)
    top: Any = get_command(importlib.import_module("duebook.cli.program").program)
    return dict(sorted(within("", top)))


def within(before: str, group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group, those of its own groups under two words."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            for inner, command in within(f"{before}{name} ", each):
                command.rich_help_panel = each.rich_help_panel
                yield inner, command
        else:
            yield f"{before}{name}", each


def cli_list() -> str:
    rows = [
        [f"[`{name}`](#{name.replace(' ', '-')})", str(each.rich_help_panel or ""), first_sentence(each.help)]
        for name, each in sorted(commands().items(), key=lambda item: (str(item[1].rich_help_panel), item[0]))
    ]
    return table(["command", "for", "does"], rows)


def cli_commands() -> str:
    return "\n\n".join(one_command(name, each) for name, each in commands().items())


def one_command(name: str, each: Any) -> str:
    words, _, examples = (each.help or "").partition("[bold]For example[/bold]")
    arguments = [p for p in each.params if not p.opts[0].startswith("-")]
    rows = [
        [f"`{p.opts[0] if p.opts[0].startswith('-') else shown(p)}`", option_help(p)]
        for p in each.params
        if p.name not in ("database", "app", "json")
    ]
    usage = " ".join([name, *(shown(p) if p.required else f"[{shown(p)}]" for p in arguments), "[OPTIONS]"])
    parts = [f"## `{name}`", f"`duebook {usage}`", words.strip()]
    if rows:
        parts.append(table(["argument", "means"], rows))
    parts.append("```sh\n" + "\n".join(line.strip() for line in examples.strip().splitlines()) + "\n```")
    return "\n\n".join(parts)


def shown(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def option_help(parameter: Any) -> str:
    said = str(parameter.help or "")
    hint = parameter.type_descriptor.annotation
    if get_origin(hint) is Literal and parameter.opts[0].startswith("-"):
        said += f" One of {', '.join(f'`{choice}`' for choice in get_args(hint))}."
    if parameter.required and parameter.opts[0].startswith("-"):
        said += " Required."
    elif parameter.default not in (None, False, "", []) and not callable(parameter.default):
        said += f" Default: `{parameter.default}`."
    return said


def first_sentence(words: str | None) -> str:
    return " ".join((words or "").split("\n\n")[0].split())
