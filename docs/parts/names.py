"""Errors, exit codes, public names and verbs."""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from typing import Any, get_args, get_type_hints

import duebook
from duebook import errors
from duebook.app.rooms import AsyncVerbs
from duebook.cli.exits import MEANINGS

from .tables import table


def errors_tree() -> str:
    tree = inspect.cleandoc(errors.__doc__ or "").partition("\n\n")[2]
    classes = [
        each
        for each in vars(errors).values()
        if inspect.isclass(each) and each.__module__ == errors.__name__ and issubclass(each, errors.DuebookError)
    ]
    rows = [[f"`{each.__name__}`", inspect.cleandoc(each.__doc__ or "")] for each in classes]
    return f"```text\n{tree}\n```\n\n{table(['error', 'means'], rows)}"


def exit_codes() -> str:
    return table(["code", "name", "means"], [[str(code.value), code.name, said] for code, said in MEANINGS.items()])


def public_names() -> str:
    return table(["name", "is"], [[f"`{name}`", own_doc(getattr(duebook, name))] for name in duebook.__all__])


def own_doc(thing: Any) -> str:
    """Return the first paragraph of a docstring; an alias of a union says its parts."""
    if get_args(thing):
        return "one of " + ", ".join(f"`{part.__name__}`" for part in get_args(thing))
    return " ".join(inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0].split())


def verbs() -> str:
    return "\n\n".join(one_verb(name, verb) for name, verb in vars(AsyncVerbs).items() if not is_other(name, verb))


def is_other(name: str, verb: Any) -> bool:
    return name.startswith("_") or isinstance(verb, cached_property)


def rooms() -> str:
    """Return the verbs of each room beside the notifications: of schedules, of deadlines and of their like."""
    parts = []
    for room, made in vars(AsyncVerbs).items():
        if isinstance(made, cached_property):
            parts.append(f"## `book.{room}`\n\n{own_doc(made.func)}")
            verbs_of_room = vars(get_type_hints(made.func)["return"]).items()
            parts += [one_verb(f"{room}.{name}", verb) for name, verb in verbs_of_room if not is_other(name, verb)]
    return "\n\n".join(parts)


def one_verb(name: str, verb: Any) -> str:
    signature = re.sub(r": '([^']*)'", r": \1", str(inspect.signature(verb)).partition(" -> ")[0])
    called = re.sub(r"^\(self(, )?", "(", signature)
    return f"### `{name}`\n\n```text\n{wrapped(name, called)}\n```\n\n{inspect.cleandoc(verb.__doc__ or '')}"


def wrapped(name: str, called: str) -> str:
    if len(name + called) <= 100:
        return name + called
    arguments = re.split(r", (?![^\[]*\])", called[1:-1])
    return f"{name}(\n" + "\n".join(f"    {each}," for each in arguments) + "\n)"
