"""Rules of style, moved to the elements they are about: many mail programs heed no other place."""

from __future__ import annotations

import re

from ..errors import InvalidMessage

_STYLE = re.compile(r"<style\b", re.IGNORECASE)


def inlined(name: str, html: str) -> str:
    """Return a page with the rules of its `<style>` in its elements; those that cannot be there, as `@media`, stay.

    Nothing is loaded: a link to a style sheet is dropped. Raises InvalidMessage for rules that cannot be read.
    """
    if not _STYLE.search(html):
        return html
    from css_inline import CSSInliner, InlineError

    try:
        return CSSInliner(keep_at_rules=True, load_remote_stylesheets=False).inline(html)
    except InlineError as error:
        raise InvalidMessage(name, f"its styles cannot be read: {error}") from None
