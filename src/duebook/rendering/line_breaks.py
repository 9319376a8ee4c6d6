"""Line breaks as they look in the template.

The engine can take the break after a tag with it. That is right for a line of nothing but tags, which then leaves no
blank line behind, and wrong for text that happens to end with a tag: it would run into the next line.
"""

from __future__ import annotations

import re

from .checks import QUOTED, RAW

_TAG = rf"\{{%(?:{QUOTED}|[^'\"%\n]|%(?!\}}))*%\}}"
_COMMENT = r"\{#(?:[^#\n]|#(?!\}))*#\}"
_ONLY_TAGS = rf"(?:[ \t]*(?:{_TAG}|{_COMMENT}))+[ \t]*$"
_ENDS_WITH_TAG = re.compile(rf"(?P<raw>{RAW})|^(?!{_ONLY_TAGS})(?P<text>[^\n]*[^-+\n])(?P<end>[%#]\}})$", re.MULTILINE)


def kept(source: str) -> str:
    """Return a template that keeps the break of each line but those of tags alone: `%}` becomes `+%}`."""
    return _ENDS_WITH_TAG.sub(lambda found: found["raw"] or f"{found['text']}+{found['end']}", source)
