"""What the demo needs before it begins: an empty folder, the two applications, and the deadlines of the year."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from ...domain.walltime import LocalTime, promise
from ...features.drafting import New
from ..importing import form
from ..sheet import Bad, Sheet

EXAMPLE = Path(__file__).parents[4] / "examples/deadlines"
LESSONS = EXAMPLE.with_name("lessons")
DATABASE = "demo.db"
LESSONS_DATABASE = "lessons.db"
SCHOOL = "school.db"
OUTBOX = "outbox.jsonl"
OURS = {".gitignore", "inbox", "worker.log", OUTBOX}
"""What the demo leaves behind, besides the databases and the files that a database has beside it."""
NEEDED = ("aiosmtpd", "babel", "css_inline", "minijinja")


class CannotPlay(Exception):
    """The demo has not what it needs; the text says what to do."""


class Lessons(NamedTuple):
    """The modules of examples/lessons."""

    app: ModuleType
    school: ModuleType
    fill: ModuleType
    redrive: ModuleType


@dataclass(frozen=True, slots=True)
class Reminder:
    """One row of the file: what is promised, and the instant that is."""

    new: New
    zone: str
    due_at: datetime

    @property
    def account(self) -> str:
        return self.new.recipient

    @property
    def filing(self) -> tuple[str, str, str]:
        return self.new.recipient, self.new.data["form"], self.new.data["period"]

    @property
    def days_before(self) -> int:
        return int(self.new.data["days_before"])


def prepare(folder: Path) -> None:
    """Make the folder anew; raises CannotPlay if something else is in it, or if the demo is not complete."""
    # The demo has everything in its folder, whatever else this terminal works with.
    os.environ.pop("DUEBOOK_QUEUE", None)
    examples = [(example / "app.py").is_file() for example in (EXAMPLE, LESSONS)]
    packages = [importlib.util.find_spec(name) is not None for name in NEEDED]
    if not all(examples + packages):
        needed = f"{', '.join(NEEDED[:-1])} and {NEEDED[-1]}"
        raise CannotPlay(f"The demo runs from a checkout of the project, with {needed}: `make demo` sees to it.")
    if folder.exists():
        strange = sorted(_strange(folder)) if folder.is_dir() else ["not a folder"]
        if strange:
            raise CannotPlay(f"{folder} is not the demo's own ({', '.join(strange[:3])}); name another folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _strange(folder: Path) -> set[str]:
    names = {file.name for file in folder.iterdir()} - OURS
    return {name for name in names if not name.startswith((DATABASE, LESSONS_DATABASE, SCHOOL))}


def configure(folder: Path, port: int) -> None:
    """Tell the application, here and in the worker process, where its database and its mail server are."""
    os.environ["DEADLINES_DB"] = str(folder.resolve() / DATABASE)
    os.environ["SMTP_URL"] = f"smtp://127.0.0.1:{port}?tls=none"


def load_application() -> ModuleType:
    """Import examples/deadlines/app.py as it is."""
    return _load(EXAMPLE, ["app"])[0]


def load_lessons(folder: Path) -> Lessons:
    """Import the modules of examples/lessons as they are, and have them keep their files in `folder`."""
    os.environ["DUEBOOK_URL"] = f"sqlite:///{folder.resolve() / LESSONS_DATABASE}"
    os.environ["LESSONS_SCHOOL"] = str(folder.resolve() / SCHOOL)
    os.environ["LESSONS_OUTBOX"] = str(folder.resolve() / OUTBOX)
    os.environ.pop("LESSONS_DOWN", None)
    app, school, _, fill, redrive = _load(LESSONS, ["app", "school", "outbox", "fill", "redrive"])
    return Lessons(app, school, fill, redrive)


def _load(folder: Path, names: Sequence[str]) -> list[ModuleType]:
    """Import modules that know each other by plain names. The names are free again afterwards: each example has its
    own `app`."""
    others = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(others)


def reminders(accounts: int | None) -> list[Reminder]:
    """Return the rows of the file in the order they are due, of the first accounts only if a number is given."""
    found = []
    with (EXAMPLE / "us-tax-2027.csv").open("rb") as file:
        sheet = Sheet(file, form(None, None))
        for row in sheet:
            if isinstance(row, Bad) or not isinstance(row.new.at, LocalTime):
                raise CannotPlay(f"{EXAMPLE / 'us-tax-2027.csv'}, line {row.line}, is not a reminder at a local time.")
            found.append(Reminder(row.new, row.new.at.zone, promise(row.new.at).due_at))
    known = sorted({reminder.account for reminder in found})[:accounts]
    return sorted((r for r in found if r.account in known), key=lambda r: (r.due_at, r.new.key))
