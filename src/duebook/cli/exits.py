"""What the exit code of every command means."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """One number for each thing a script does next: go on, look, correct the call, wait for the database,
    repeat, wait for the broker."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    DATABASE = 3
    BUSY = 4
    BROKER = 5
    FAULT = 70
    INTERRUPTED = 130


MEANINGS: dict[Exit, str] = {
    Exit.DONE: "done",
    Exit.REFUSED: "a problem was found, or the wish refused: too late, closed, not found, a bad row among good ones",
    Exit.USAGE: "wrong usage or bad input; nothing was done",
    Exit.DATABASE: "the database cannot be reached, or its tables are missing or of another release",
    Exit.BUSY: "the database is busy; the same command may be repeated",
    Exit.BROKER: "the broker cannot be reached; the database has everything, and nothing was marked as published",
    Exit.FAULT: "a fault in duebook or in the app that it loaded; the traceback says where",
    Exit.INTERRUPTED: "interrupted; a second signal while a worker stops gives 128 plus its number",
}
