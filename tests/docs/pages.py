"""The pages of README and docs, taken apart: blocks of code with what a comment above says about them, and links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^( *)```(\w*)")
_COMMENT = re.compile(r"^ *<!-- (fragment|run|file: (.+?)) -->$")
_HEADING = re.compile(r"^#{1,6} (.+)$")
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Block:
    """`mark`: "fragment" is not run, "run" is a shell block that is, "file" is written to `file` first."""

    page: str
    line: int
    language: str
    text: str
    mark: str = ""
    file: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    return list(_blocks(page))


def _blocks(page: Path) -> Iterator[Block]:
    mark = file = ""
    lines = iter(enumerate(text(page).splitlines(), 1))
    for number, line in lines:
        if found := _COMMENT.match(line):
            mark, file = found[1].partition(":")[0], found[2] or ""
        elif fence := _FENCE.match(line):
            code = []
            for _, inner in lines:
                if inner.strip() == "```":
                    break
                code.append(inner.removeprefix(fence[1]))
            yield Block(name(page), number, fence[2], "\n".join(code) + "\n", mark, file)
            mark = file = ""
        elif line.strip():
            mark = file = ""


def prose(page: Path) -> str:
    """Return a page without its blocks."""
    inside, kept = False, []
    for line in text(page).splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


@cache
def anchors(page: Path) -> set[str]:
    """Return what a link may point to, by the rule of the usual renderers."""
    headings = (found[1] for line in prose(page).splitlines() if (found := _HEADING.match(line)))
    return {re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-") for heading in headings}


def shell_lines(block: Block) -> list[str]:
    """Return the command lines of a shell block, with continued lines joined."""
    return [line for line in block.text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]


def calls(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (where, words) of every call of the duebook command in a page, in blocks and in the text."""
    for block in blocks(page):
        if block.language == "sh":
            for line in shell_lines(block):
                for part in re.split(r"[|>;&]", line):
                    yield from _call(str(block), part)
        elif block.language in ("ini", "text"):
            for found in re.findall(r"(?:^ExecStart=\S*/|^)duebook .*", block.text, re.MULTILINE):
                yield from _call(str(block), found.rpartition("/")[2])
    for found in _CODE.findall(prose(page)):
        yield from _call(name(page), found)


def _call(where: str, line: str) -> Iterator[tuple[str, list[str]]]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    if words[:1] == ["duebook"] and len(words) > 1:
        yield where, words[1:]
