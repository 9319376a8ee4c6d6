"""The command line: `python -m bench [names…] [--quick] [--json FILE] [--profile JOB]`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

import psycopg

from tests import postgres

from . import (
    claims,
    digests,
    drain,
    idle,
    importing,
    lateness,
    machine,
    memory,
    overtaking,
    previews,
    profiling,
    queues,
    reading,
    schedules,
    scheduling,
)
from .figures import table
from .run import FULL, QUICK, Run

VARIABLE = "DUEBOOK_BENCH_POSTGRES"

MEASUREMENTS: dict[str, Callable[[Run], None]] = {
    "import": importing.measure,
    "previews": previews.measure,
    "scheduling": scheduling.measure,
    "drain": drain.measure,
    "schedules": schedules.measure,
    "digests": digests.measure,
    "reading": reading.measure,
    "lateness": lateness.measure,
    "overtaking": overtaking.measure,
    "queues": queues.measure,
    "memory": memory.measure,
    "claims": claims.measure,
    "idle": idle.measure,
}


def main() -> None:
    options = _options()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    server = _server()
    try:
        run = Run(QUICK if options.quick else FULL, server.url)
        facts = machine.facts(server.url, server.origin)
        if options.profile:
            print("\n".join(f"{name}: {fact}" for name, fact in facts.items()), end="\n\n")
            print(profiling.profile(run, options.profile))
            return
        started = time.perf_counter()
        for name in options.names or MEASUREMENTS:
            run.measurement = name
            began = time.perf_counter()
            MEASUREMENTS[name](run)
            run.say(f"took {time.perf_counter() - began:.0f} s")
        facts["took"] = f"{time.perf_counter() - started:.0f} s{', the quick form' if options.quick else ''}"
        print("\n".join(f"{name}: {fact}" for name, fact in facts.items()), end="\n\n")
        print(table(run.figures))
        if options.json:
            told = {"machine": facts, "figures": [figure.as_json() for figure in run.figures]}
            options.json.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    finally:
        server.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure duebook, beside other schedulers.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"only these: {', '.join(MEASUREMENTS)}")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything, in less than a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--profile", choices=profiling.JOBS, metavar="JOB", help=", ".join(profiling.JOBS))
    options = parser.parse_args()
    for name in options.names:
        if name not in MEASUREMENTS:
            parser.error(f"there is no measurement {name!r}; there are: {', '.join(MEASUREMENTS)}")
    return options


def _server() -> postgres.Server:
    """Find or start PostgreSQL as the tests do; one that is started keeps its promises here, as it would in use."""
    if url := os.environ.get(VARIABLE):
        return postgres.Server(url, f"named by {VARIABLE}")
    server = postgres.provide()
    if "embedded" in server.origin:
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("alter system reset fsync")
            connection.execute("select pg_reload_conf()")
    return server


if __name__ == "__main__":
    main()
