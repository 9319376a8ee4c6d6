"""A worker in another process, seen from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .subject import CONCURRENCIES, PATIENCE_SECONDS


@dataclass(slots=True)
class Outsider:
    """See worker_process.py for what it tells."""

    process: subprocess.Popen[str]

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker process ended with {self.process.wait(10)}")
        told: dict[str, Any] = json.loads(line)
        return told

    def ask(self) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.hear()


@contextmanager
def worker_process(url: str, due: int = 0, concurrency: int = CONCURRENCIES[0]) -> Iterator[Outsider]:
    """Run a worker in another process; it is told to stop at the end."""
    command = [sys.executable, "-m", "bench.worker_process", url, str(due), str(concurrency)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Outsider(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(PATIENCE_SECONDS)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
