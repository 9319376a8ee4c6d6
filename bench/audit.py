"""Audits what a run left behind: one that broke a promise would measure nothing."""

from __future__ import annotations

import asyncio
import time

from duebook.cli.auditing import violations

from .run import Run


def audit(run: Run, url: str) -> None:
    """Say that everything on record holds; raises RuntimeError if something does not."""
    started = time.perf_counter()
    if found := asyncio.run(violations(url)):
        told = "\n".join(f"  {each.check}: {each.subject}: {each.found}" for each in found)
        raise RuntimeError(f"the run left behind what must not be, see docs/operate/audit.md:\n{told}")
    run.say(f"audited in {time.perf_counter() - started:.1f} s, everything holds")
