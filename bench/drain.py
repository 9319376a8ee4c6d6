"""Drain: how fast a worker gets through notifications that are due, with a channel that does nothing.

duebook is timed from before the worker starts until it has stopped, with every outcome settled and every attempt in the
ledger, which is checked. Three values of the channel's concurrency are tried on fewer notifications, and the fastest is
measured. Beside it on PostgreSQL: the raw loop of raw.py, PgQueuer and Procrastinate, each tried and measured in the
same way (see peers/). Before each run the server is asked for a checkpoint, so that none falls into one run and not
into another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from .audit import audit
from .figures import Target
from .filling import fill_due
from .peers.with_pgqueuer import ITS_OWN, SETUPS, Setup, drain_pgqueuer
from .peers.with_procrastinate import CONCURRENCIES as PROCRASTINATE
from .peers.with_procrastinate import drain_procrastinate
from .raw import BATCH, drain_raw
from .run import Run
from .subject import CONCURRENCIES, Dialect, check_accepted, database, drain, make_book

SQLITE = Target(15_000)
OF_RAW = Target(0.5)
OF_PGQUEUER = Target(1.3)

T = TypeVar("T")


def measure(run: Run) -> None:
    _against_raw(run, "SQLite", SQLITE)
    rate = _against_raw(run, "PostgreSQL")
    _against_others(run, rate)


def _against_raw(run: Run, dialect: Dialect, target: Target | None = None) -> float:
    due = run.scale.due
    best = fastest(run, dialect, CONCURRENCIES, partial(_ours, run, dialect, run.scale.probe))
    ours, raw = [], []
    # In turns, so that what else the machine does at the time falls on both.
    for _ in range(run.scale.turns):
        raw.append(_raw(run, dialect, due))
        ours.append(_ours(run, dialect, due, best))
    note = f"channel concurrency {best}, the fastest of {', '.join(map(str, CONCURRENCIES))}"
    rate = run.found(f"{dialect}: {due:,} due", ours, "/s", target=target, note=note)
    raw_rate = run.found(f"{dialect}: raw loop, three statements for {BATCH}", raw, "/s")
    of_raw = OF_RAW if dialect == "PostgreSQL" else None
    run.found(f"{dialect}: duebook against the raw loop", rate / raw_rate, "times", target=of_raw)
    return rate


def _against_others(run: Run, rate: float) -> None:
    scale = run.scale
    setup: Setup = fastest(run, "PgQueuer", SETUPS, partial(drain_pgqueuer, run.server, scale.probe))
    its_own, tuned = (drain_pgqueuer(run.server, scale.due, one) for one in (ITS_OWN, setup))
    run.found(f"PgQueuer: {scale.due:,} jobs, as its own benchmark is set", its_own, "/s", note=str(ITS_OWN))
    run.found(f"PgQueuer: {scale.due:,} jobs, the fastest setting found", tuned, "/s", note=str(setup))
    most = fastest(run, "Procrastinate", PROCRASTINATE, partial(drain_procrastinate, run.server, scale.probe // 10))
    procrastinate = drain_procrastinate(run.server, scale.procrastinate, most)
    run.found(f"Procrastinate: {scale.procrastinate:,} jobs", procrastinate, "/s", note=f"worker concurrency {most}")
    run.found("PostgreSQL: duebook against PgQueuer, its own setting", rate / its_own, "times", target=OF_PGQUEUER)
    run.found("PostgreSQL: duebook against PgQueuer, the fastest", rate / tuned, "times", target=OF_PGQUEUER)


def fastest(run: Run, who: str, choices: Sequence[T], rate: Callable[[T], float]) -> T:
    """Try each choice and answer the one with the highest rate."""
    rates = []
    for choice in choices:
        rates.append(rate(choice))
        run.say(f"{who} tried with {choice}: {rates[-1]:,.0f} /s")
    return choices[rates.index(max(rates))]


def _ours(run: Run, dialect: Dialect, count: int, concurrency: int) -> float:
    with database(dialect, run.server) as url:
        fill_due(url, count)
        seconds = asyncio.run(drain(lambda send: make_book(url, send, concurrency), count))
        check_accepted(url, count)
        audit(run, url)
    return count / seconds


def _raw(run: Run, dialect: Dialect, count: int) -> float:
    with database(dialect, run.server) as url:
        fill_due(url, count)
        drained, seconds = drain_raw(url)
    if drained != count:
        raise RuntimeError(f"the raw loop drained {drained:,} of {count:,}")
    return count / seconds
