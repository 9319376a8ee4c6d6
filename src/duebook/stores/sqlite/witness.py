"""A file beside an SQLite file that knows what was last written into it.

A database cannot know that it is a copy of an older state: everything in it is as old as it is. So each adoption writes
a new name into the database, and the same name into the witness. A copy that is put in the database's place has an
older name. Between the two writes the witness holds both names; who adopts holds a lock on it, so that two cannot mix.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...ports import Incarnation

SUFFIX = ".witness"


@contextmanager
def witnessed(path: Path) -> Iterator[Incarnation | None]:
    """Yield what the database may call itself and the name it gets next; None where no witness can be written."""
    beside = path.with_name(path.name + SUFFIX)
    try:
        file = beside.open("a+", encoding="ascii")
    except OSError:
        yield None
        return
    with file, _locked(file.fileno()):
        file.seek(0)
        known = file.read().split()
        found = Incarnation(frozenset(known), secrets.token_hex(8))
        _write(file.fileno(), [*known, found.identity])
        try:
            yield found
        finally:
            _write(file.fileno(), [found.identity] if found.adopted else known)


def _write(descriptor: int, names: list[str]) -> None:
    os.ftruncate(descriptor, 0)
    os.write(descriptor, ("\n".join(names) + "\n").encode("ascii"))
    with suppress(OSError):
        os.fsync(descriptor)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # not on Windows, where one worker looks after a file
        yield
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
