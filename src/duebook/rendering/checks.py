"""What a template names: filters, tests and other templates. The engine would miss them only when it comes there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

QUOTED = r"""(?s:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
RAW = r"(?s:\{%[-+]?\s*raw\s*[-+]?%\}.*?\{%[-+]?\s*endraw\s*[-+]?%\})"

_HIDDEN = re.compile(rf"(?s:\{{#.*?#\}})|{RAW}")
_TAG = re.compile(rf"\{{\{{(?:{QUOTED}|[^'\"}}]|\}}(?!\}}))*\}}\}}|\{{%(?:{QUOTED}|[^'\"%]|%(?!\}}))*%\}}")
_TEXT = re.compile(QUOTED)
_TEMPLATE = re.compile(rf"\{{%[-+]?\s*(?:extends|include|import|from)\s+({QUOTED})")
_FILTER = re.compile(r"\|\s*([A-Za-z_]\w*)|\{%[-+]?\s*filter\s+([A-Za-z_]\w*)")
_TEST = re.compile(r"\bis\s+(?:not\s+)?([A-Za-z_]\w*)")
_OPTIONAL = re.compile(r"\bignore\s+missing\b")


class Reference(NamedTuple):
    """A name in a template, and the line of the tag it stands in."""

    sort: Literal["filter", "test", "template"]
    name: str
    line: int


def references(source: str) -> Iterator[Reference]:
    """Yield what the tags of a template name, without templates that may be missing or whose name is computed."""
    shown = _HIDDEN.sub(_line_breaks, source)
    for tag in _TAG.finditer(shown):
        line = shown.count("\n", 0, tag.start()) + 1
        if (named := _TEMPLATE.match(tag[0])) and not _OPTIONAL.search(tag[0]):
            yield Reference("template", named[1][1:-1], line)
        code = _TEXT.sub("''", tag[0])
        for found in _FILTER.finditer(code):
            yield Reference("filter", found[1] or found[2], line)
        for found in _TEST.finditer(code):
            yield Reference("test", found[1], line)


def _line_breaks(hidden: re.Match[str]) -> str:
    return "\n" * hidden[0].count("\n")
