"""Messages in a file, for development and for tests of an application."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from ..domain.message import Message, freeze
from ..domain.outcome import Accepted, Outcome, Retry, Uncertain
from ..domain.policy import ChannelPolicy
from ..ports import SendContext


class FileChannel:
    """Appends every message to a file, one JSON object per line, and says Accepted once it is on the disk.

    Lines rather than a mailbox, because they hold every type of message and can be followed with `tail -f`,
    asked with `jq` and counted in a test. Several processes may write to one local file. It deduplicates
    nothing: a repeated attempt is a second line with the same `idempotency_key`.

    A file that cannot be opened is Retry; a write or fsync that fails is Uncertain.
    """

    def __init__(self, path: str | os.PathLike[str], *, name: str = "file") -> None:
        self.policy = ChannelPolicy(name, concurrency=1)
        self.path = Path(path)

    async def send(self, message: Message, context: SendContext) -> Outcome:
        line = json.dumps(
            {
                "kind": context.kind,
                "key": context.key,
                "recipient": context.recipient,
                "attempt": context.number,
                "idempotency_key": context.idempotency_key,
                "message_id": context.message_id,
                "rendered_at": context.rendered_at.isoformat(),
                "message": json.loads(freeze(message)),
            },
            ensure_ascii=False,
        )
        return await asyncio.to_thread(self._append, line.encode() + b"\n")

    async def close(self) -> None:
        """Nothing to close: the file is open only while a line is written."""

    def _append(self, line: bytes) -> Outcome:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            return Retry(f"cannot open {self.path}: {error.strerror}")
        try:
            # One write call: with O_APPEND, lines of several processes then never mix.
            if os.write(file, line) != len(line):
                return Uncertain(f"only a part of the line was written to {self.path}", phase="write")
            os.fsync(file)
        except OSError as error:
            return Uncertain(f"cannot write {self.path}: {error.strerror}", phase="write")
        finally:
            os.close(file)
        return Accepted()
