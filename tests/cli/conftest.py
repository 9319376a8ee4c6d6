import asyncio
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duebook import Duebook

from .support import SHOP, register


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DUEBOOK_URL", "DUEBOOK_APP", "DUEBOOK_NAMESPACE"):
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
    monkeypatch.setenv("DUEBOOK_URL", empty_url)
    return empty_url


@pytest.fixture(params=["sqlite", "postgres"])
def either_url(request: pytest.FixtureRequest, empty_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    chosen: str = empty_url if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    _migrate(chosen)
    monkeypatch.setenv("DUEBOOK_URL", chosen)
    return chosen


@pytest.fixture
def app(tmp_path: Path) -> Iterator[str]:
    """The name of an application's book, in a module of its own that reads DUEBOOK_URL."""
    module = f"shop_{secrets.token_hex(4)}"
    (tmp_path / f"{module}.py").write_text(SHOP)
    yield f"{module}:book"
    sys.modules.pop(module, None)


def _migrate(url: str) -> None:
    async def go() -> None:
        book = Duebook(url)
        await book.migrate()
        await book.close()

    asyncio.run(go())
    register(url)
