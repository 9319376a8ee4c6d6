"""How much memory a worker takes: a process of its own drains what is due and then idles with many pending.

The most that was ever resident, with the interpreter and everything imported.
"""

from __future__ import annotations

import time

from .audit import audit
from .figures import Target
from .filling import fill_due, fill_future
from .outside import worker_process
from .run import Run
from .subject import DIALECTS, check_accepted, database

TARGET = Target(120, most=True)
CONCURRENCY = 400
IDLE_SECONDS = 2.0


def measure(run: Run) -> None:
    due, pending = run.scale.due, run.scale.pending
    for dialect in DIALECTS:
        with database(dialect, run.server) as url:
            fill_future(url, pending, 1)
            fill_due(url, due, pending + 1)
            run.say(f"{dialect}: {due:,} due and {pending:,} pending laid")
            with worker_process(url, due, CONCURRENCY) as worker:
                worker.hear()
                time.sleep(IDLE_SECONDS)
                most = worker.ask()["most_mb"]
            check_accepted(url, due)
            audit(run, url)
        note = f"{due:,} drained, {pending:,} pending, channel concurrency {CONCURRENCY}"
        run.found(f"{dialect}: most memory of a worker", most, "MB", target=TARGET, note=note)
