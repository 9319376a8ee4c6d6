"""What is wrong with a template, and what to do about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..errors import InvalidMessage

if TYPE_CHECKING:
    from minijinja import TemplateError

_SAID = {
    "OutOfFuel": "takes too many steps",
    "UndefinedError": "a variable is undefined",
}
_FIXES = {
    "OutOfFuel": "give it fewer items, or say less of each",
    "UndefinedError": "pass it in `values`, or ask `is defined` first",
    "UnknownFilter": "correct its name",
    "UnknownFunction": "correct its name",
    "UnknownTest": "correct its name",
}
_CAUSE = re.compile(r"^caused by: (.+)$", re.MULTILINE)


def fault(name: str, error: TemplateError, line: int | None = None) -> InvalidMessage:
    """Return the error to raise for what the engine says of the template called `name`, or of one that it extends.

    `line`: where the engine cannot know it.
    """
    problem = f"{_said(error)}; {_FIXES.get(error.kind, 'correct the template')}"
    return at(name, line, problem) if line else at(error.name or name, error.line, problem)


def _said(error: TemplateError) -> str:
    # What is wrong within an included template is said only here. The rest of this text shows values, and stays unsaid.
    causes = _CAUSE.findall(str(error)) if error.kind == "BadInclude" else []
    return causes[-1] if causes else error.detail or _SAID.get(error.kind, error.kind)


def at(name: str, line: int | None, problem: str) -> InvalidMessage:
    """Return the error to raise for a line of a template."""
    return InvalidMessage(name if line is None else f"{name}:{line}", problem)
