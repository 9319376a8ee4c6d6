"""How many occurrences of recurring times are found in a second, in a zone whose clocks change."""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime
from itertools import islice

from duebook import Cron, Every, Rrule

from .figures import Target
from .run import Run

TARGET = Target(1_000_000 / 30)
ZONE = "America/New_York"
START = datetime(2027, 1, 1, tzinfo=UTC)
ANCHOR = datetime(2027, 1, 31, 9)  # noqa: DTZ001 - a wall time

RECURRENCES = {
    "cron */5 * * * *": Cron("*/5 * * * *"),
    "cron 0 9 * * *": Cron("0 9 * * *"),
    "RRULE, daily": Rrule("FREQ=DAILY", ANCHOR),
    "RRULE, every five minutes": Rrule("FREQ=MINUTELY;INTERVAL=5", ANCHOR),
    "every day": Every(1, "day", ANCHOR),
    "every five minutes": Every(5, "minute", ANCHOR),
}


def measure(run: Run) -> None:
    number = run.scale.previews
    for what, recurrence in RECURRENCES.items():
        began = time.perf_counter()
        deque(islice(recurrence.occurrences(ZONE, START), number), maxlen=0)
        seconds = time.perf_counter() - began
        run.found(what, number / seconds, "/s", target=TARGET, note=f"{number:,} in {seconds:.1f} s")
