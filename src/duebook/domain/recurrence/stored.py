"""How a recurrence is kept: one line of JSON, the same for equal recurrences."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from ...errors import InvalidInput
from .cron import Cron
from .every import Every
from .rrule import Rrule

Recurrence = Cron | Rrule | Every


def dump(recurrence: Recurrence) -> str:
    """Return a recurrence as text, such as {"cron": "0 9 * * *"}."""
    return json.dumps(_document(recurrence), ensure_ascii=False)


def load(text: str) -> Recurrence:
    """Return the recurrence that `dump` wrote. Raises InvalidInput for any other text."""
    try:
        document = json.loads(text)
        match document:
            case {"cron": str(expression), **rest} if not rest:
                return Cron(expression)
            case {"rrule": str(rule), "start": str(start), **rest} if not rest:
                return Rrule(rule, datetime.fromisoformat(start))
            case {"every": int(n), "unit": str(unit), "anchor": str(anchor), **rest} if not rest:
                return Every(n, unit, datetime.fromisoformat(anchor))  # type: ignore[arg-type]  # checked by Every
    except InvalidInput:
        raise
    except (ValueError, RecursionError):
        pass
    raise InvalidInput("recurrence", f"{text[:100]!r} is not a recurrence as dump() writes it")


def _document(recurrence: Recurrence) -> dict[str, Any]:
    match recurrence:
        case Cron(expression):
            return {"cron": expression}
        case Rrule(rule, start):
            return {"rrule": rule, "start": start.isoformat(timespec="minutes")}
        case Every(n, unit, anchor):
            return {"every": n, "unit": unit, "anchor": anchor.isoformat(timespec="minutes")}
