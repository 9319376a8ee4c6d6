"""Instants, lengths of time and other small things, as people say them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def instant(at: datetime) -> str:
    """Return an instant to the second, such as "2027-01-14 14:00:00 UTC"."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def span(length: timedelta) -> str:
    """Return a length of time in its two largest units, such as "2 h 5 min", "1.4 s" or "12 ms"."""
    seconds = abs(length.total_seconds())
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    parts: list[str] = []
    left = round(seconds)
    for name, size in _UNITS:
        if left >= size and len(parts) < 2:
            parts.append(f"{left // size} {name}")
            left %= size
        elif parts:
            break
    return " ".join(parts)


def ahead(at: datetime, now: datetime) -> str:
    """Return an instant as seen from now: "in 3 h" or "3 h ago"."""
    return f"in {span(at - now)}" if at > now else f"{span(now - at)} ago"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return "1 row" or "3 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def first_line(text: str, limit: int = 200) -> str:
    """Return what one line can hold of a text: its only line, or the last of a traceback, which names the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = (lines[-1] if len(lines) > 1 and lines[0].startswith("Traceback") else lines[0]) if lines else ""
    return line if len(line) <= limit else line[: limit - 1] + "…"
