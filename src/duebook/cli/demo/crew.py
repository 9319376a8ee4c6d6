"""The worker process, seen from outside: started, told the date, and killed."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from datetime import datetime
from pathlib import Path

from .stage import CannotPlay

PATIENCE_SECONDS = 60.0


class Crew:
    """At most one worker at a time. Its log is appended to `log`."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self._process: Process | None = None

    async def start(self) -> None:
        with self.log.open("ab") as log:
            # A session of its own, so that Ctrl-C reaches the demo alone. The worker ends when its input does.
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", f"{__package__}.worker", stdin=PIPE, stdout=PIPE, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    async def work_until(self, instant: datetime) -> bool:
        """Tell the worker the date and wait until it has done what is due; False if it died over it.

        Raises CannotPlay if it does not answer for a minute.
        """
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{instant.isoformat()}\n".encode())
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return bool(await process.stdout.readline())
        except TimeoutError:
            raise CannotPlay(f"The worker has not answered for {PATIENCE_SECONDS:g} s; see {self.log}") from None

    async def kill(self) -> None:
        """End the worker as a power cut would: it gets no chance to say anything."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def stop(self) -> int:
        """Let the worker finish; answers its exit code."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        return await self._process.wait()
