"""Other people's text in rooms that read Markdown."""

from __future__ import annotations

import re

_MAKES_LINKS = re.compile(r"[\\\[\]]")


def without_links(text: str) -> str:
    """Return text in which no link can hide behind other words: CommonMark makes one of `[words](URL)`, and takes the
    brackets literally after a backslash (§2.4, §6.3). A bare URL stays one."""
    return _MAKES_LINKS.sub(r"\\\g<0>", text)
