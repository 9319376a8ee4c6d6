"""What a class declares: its docstring, the defaults of its fields or arguments, and the bounds it refuses."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from datetime import time, timedelta
from typing import Any, Literal, get_args, get_origin, get_type_hints

from duebook.domain import policy
from duebook.domain.policy import Retention
from duebook.domain.retry import Backoff

from .tables import table


def settings(kind: type[Any], skip: Iterable[str] = ()) -> str:
    """Return docstring, defaults and bounds of a dataclass; the bounds are what its `__post_init__` refuses."""
    bounds = refused(kind)
    hints = get_type_hints(kind)
    rows = []
    for field in fields(kind):
        if field.name not in set(skip):
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            limits = [*bounds.get(field.name, []), *choices(hints[field.name])]
            rows.append([f"`{field.name}`", value(default), "; ".join(limits)])
    said = inspect.cleandoc(kind.__doc__ or "").replace("Lengths of time say their bounds in `__post_init__`.", "")
    everywhere = [f"`{kind.__name__}` as a whole: {limit}." for limit in bounds.get("", [])]
    return "\n\n".join(part for part in (said.strip(), table(["name", "default", "bounds"], rows), *everywhere) if part)


def refused(kind: type[Any]) -> dict[str, list[str]]:
    """Return what `__post_init__` demands, by field; what names no field of its own is under ""."""
    if not hasattr(kind, "__post_init__"):
        return {}
    constants = {name: str(value) for name, value in vars(sys.modules[kind.__module__]).items() if name.isupper()}
    known = {field.name for field in fields(kind)}
    found: dict[str, list[str]] = {}
    for name, demand in demands(ast.parse(textwrap.dedent(inspect.getsource(kind.__post_init__))), constants):
        field = name.rpartition(".")[2]
        own = field if field in known else next((each for each in sorted(known) if demand.startswith(each)), "")
        said = demand.removeprefix(f"{own} ") if own and own != field else demand
        found.setdefault(own, []).append(re.sub(r"^must (not )?(be |satisfy )?", r"\1", said))
    return found


def demands(node: ast.AST, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (field, demand) of each check in a function, with loops over constants unrolled."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Tuple):
        for item in node.iter.elts:
            for statement in node.body:
                yield from demands(statement, {**given, node.target.id: ast.literal_eval(item)})
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        first = written(node.args[0], given) if node.args else ""
        zero = any(keyword.arg == "zero" for keyword in node.keywords)
        match node.func.id:
            case "InvalidInput":
                yield first, written(node.args[1], given)
            case "UnsafeSetting":
                yield "", first
            case "checked_span":
                yield first, "a length of time, zero allowed" if zero else "a positive length of time"
    for child in ast.iter_child_nodes(node):
        yield from demands(child, given)


def written(node: ast.AST, given: dict[str, str]) -> str:
    """Return the text of a constant or of an f-string over known names."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part, given) for part in node.values)
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return given.get(node.value.id, "…")
    return "…"


def choices(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return ["one of " + ", ".join(f'`"{choice}"`' for choice in get_args(hint))]
    if hint is policy.Priority:
        return ["one of " + ", ".join(f'`"{each.name.lower()}"`' for each in policy.Priority)]
    return []


def constructor(kind: type[Any]) -> str:
    """Return docstring and parameters of a class."""
    rows = [[f"`{each.name}`", shown_default(each)] for each in parameters_of(kind)]
    return f"{inspect.cleandoc(kind.__doc__ or '')}\n\n{table(['argument', 'default'], rows)}"


def parameters_of(kind: type[Any]) -> list[inspect.Parameter]:
    """Return the parameters that a class takes by a name of their own."""
    return [each for each in inspect.signature(kind).parameters.values() if each.kind is not each.VAR_KEYWORD]


def shown_default(parameter: inspect.Parameter) -> str:
    return "required" if parameter.default is parameter.empty else value(parameter.default)


def value(default: Any) -> str:
    """Return a default as a person writes it."""
    match default:
        case _ if default is MISSING:
            return "required"
        case None:
            return "none"
        case timedelta():
            return span(default)
        case policy.Priority():
            return f'`"{default.name.lower()}"`'
        case Backoff() | Retention():
            return f"`{type(default).__name__}()`, below"
        case float():
            return f"{default:g}"
        case str():
            return f'`"{default}"`'
        case ():
            return "none"
        case tuple():
            return ", ".join(map(value, default))
        case time():
            return f"{default:%H:%M}"
    return str(default)


def span(length: timedelta) -> str:
    seconds = length.total_seconds()
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {name}{'s' if count != 1 else ''}"
    return f"{seconds:g} seconds" if seconds != 1 else "1 second"
