"""What the demo needs before the year begins: an empty folder, the application, and its deadlines imported."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType

from ...domain.walltime import LocalTime, promise
from ...features.drafting import New
from ..importing import form
from ..sheet import Bad, Sheet

EXAMPLE = Path(__file__).parents[4] / "examples/deadlines"
DATABASE = "demo.db"
OURS = {".gitignore", "inbox", "worker.log"}
"""What the demo leaves behind, besides the database and the files that a database has beside it."""


class CannotPlay(Exception):
    """The demo has not what it needs; the text says what to do."""


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
    if not (EXAMPLE / "app.py").is_file() or importlib.util.find_spec("aiosmtpd") is None:
        raise CannotPlay("The demo runs from a checkout of the project, with aiosmtpd: `make demo` sees to both.")
    if folder.exists():
        strange = sorted(_strange(folder)) if folder.is_dir() else ["not a folder"]
        if strange:
            raise CannotPlay(f"{folder} is not the demo's own ({', '.join(strange[:3])}); name another folder.")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _strange(folder: Path) -> set[str]:
    names = {file.name for file in folder.iterdir()} - OURS
    return {name for name in names if not name.startswith(DATABASE)}


def configure(folder: Path, port: int) -> None:
    """Tell the application, here and in the worker process, where its database and its mail server are."""
    os.environ["DEADLINES_DB"] = str(folder.resolve() / DATABASE)
    os.environ["SMTP_URL"] = f"smtp://127.0.0.1:{port}?tls=none"


def load_application() -> ModuleType:
    """Import examples/deadlines/app.py as it is."""
    spec = importlib.util.spec_from_file_location("deadlines_app", EXAMPLE / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


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
