"""Writes the parts of these pages that the code already says, so that they cannot differ from it.

    python -m docs.generate            write them
    python -m docs.generate --check    say which pages are out of date, and exit 1

A page marks such a part with `<!-- generated: NAME -->` and `<!-- end -->`. What stands between is replaced by what
the function NAME (with dashes for underscores) in `docs/parts` answers. Everything else in a page is written by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from .parts import channels, commands, lifecycle, names, settings

DOCS = Path(__file__).parent
PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
PARTS = {
    name.replace("_", "-"): part
    for module in (channels, commands, lifecycle, names, settings)
    for name, part in vars(module).items()
    if callable(part)
}


def filled(page: str) -> str:
    """Return a page with every generated part as the code has it now."""

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n{PARTS[found[2]]()}\n\n{found[3]}"

    return PART.sub(part, page)


def main(arguments: Sequence[str]) -> int:
    stale = []
    for path in sorted(DOCS.rglob("*.md")):
        now = path.read_text(encoding="utf-8")
        new = filled(now)
        if new != now:
            stale.append(path.relative_to(DOCS.parent).as_posix())
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    if stale:
        sys.stdout.write(
            "".join(f"{'out of date' if '--check' in arguments else 'written'}: {each}\n" for each in stale)
        )
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
