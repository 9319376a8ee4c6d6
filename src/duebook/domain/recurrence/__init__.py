"""Times that come again: cron, RRULE, and every so many units from an anchor.

`cron`, `rrule` and `every` each answer wall times; `occurrence` makes instants of them by one stated rule; `stored`
is how a recurrence is kept as text.
"""

from .cron import Cron
from .every import Every, Unit
from .occurrence import EARLIEST, Occurrence, Reading, checked_instant
from .rrule import Rrule
from .stored import Recurrence, dump, load

__all__ = [
    "EARLIEST", "Cron", "Every", "Occurrence", "Reading", "Recurrence", "Rrule", "Unit", "checked_instant", "dump",
    "load",
]  # fmt: skip
