import asyncio
import secrets
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from duebook import Duebook
from tests.queues.conftest import redis_server
from tests.support.fixtures import emptied
from tests.support.shell import Shell, psql, sqlite_shell

from .support import CALENDAR, NEWSROOM, SHOP, register

__all__ = ["redis_server"]


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DUEBOOK_URL", "DUEBOOK_APP", "DUEBOOK_NAMESPACE", "DUEBOOK_QUEUE"):
        monkeypatch.setenv(name, "")  # so that what a command sets is undone
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def empty_url(tmp_path: Path) -> str:
    """An SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'book.db'}"


@pytest.fixture
def url(empty_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A migrated SQLite file whose kind `renewal` is known, named by DUEBOOK_URL."""
    _migrate(empty_url)
    register(empty_url)
    monkeypatch.setenv("DUEBOOK_URL", empty_url)
    return empty_url


@pytest.fixture(params=["sqlite", "postgres"])
def either_url(request: pytest.FixtureRequest, empty_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    chosen: str = empty_url if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    _migrate(chosen)
    if request.param == "postgres":
        with closing(psql(chosen)) as shell:
            emptied(shell)
    register(chosen)
    monkeypatch.setenv("DUEBOOK_URL", chosen)
    return chosen


@pytest.fixture
def app(tmp_path: Path) -> Iterator[str]:
    """The name of an application's book, in a module of its own that reads DUEBOOK_URL."""
    yield from _module(tmp_path, SHOP)


@pytest.fixture
def calendar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The application of deadlines and digests, named by DUEBOOK_APP."""
    for name in _module(tmp_path, CALENDAR):
        monkeypatch.setenv("DUEBOOK_APP", name)
        yield name


@pytest.fixture
def newsroom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The application of unread messages and gathered news, named by DUEBOOK_APP."""
    for name in _module(tmp_path, NEWSROOM):
        monkeypatch.setenv("DUEBOOK_APP", name)
        yield name


def _module(folder: Path, text: str) -> Iterator[str]:
    module = f"shop_{secrets.token_hex(4)}"
    (folder / f"{module}.py").write_text(text)
    yield f"{module}:book"
    sys.modules.pop(module, None)


@pytest.fixture
def shell(either_url: str) -> Iterator[Shell]:
    """What a person at the database can do by hand."""
    path = either_url.removeprefix("sqlite:///")
    found = psql(either_url) if path == either_url else sqlite_shell(path)
    yield found
    found.close()


def _migrate(url: str) -> None:
    async def go() -> None:
        book = Duebook(url)
        await book.migrate()
        await book.close()

    asyncio.run(go())
