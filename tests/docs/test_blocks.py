"""Every Python block runs as it is written, in the order of its page, unless the page says that it is a fragment.

What runs finds an empty folder, a mail server on loopback in SMTP_URL, and an empty PostgreSQL database in
DATABASE_URL.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from duebook import Duebook, State
from duebook.cli import program

from . import pages
from .pages import Block

VARIABLES = ("DUEBOOK_URL", "DUEBOOK_NAMESPACE", "DUEBOOK_APP", "DUEBOOK_QUEUE")


class Inbox:
    """A mail server in a thread; `mails` are what it has taken."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="inbox")

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.mails.append(message_from_bytes(envelope.content))
        return "250 2.0.0 Ok: queued as A1"

    def open(self) -> None:
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(5)

    async def _listen(self) -> int:
        from aiosmtpd.smtp import SMTP

        self._server = await self._loop.create_server(lambda: SMTP(self, loop=self._loop), "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _leave(self) -> None:
        self._server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    made = Inbox()
    made.open()
    yield made
    made.close()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inbox: Inbox) -> Iterator[Path]:
    """A folder of its own, first on the path; modules that a page writes there are forgotten afterwards."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("SMTP_URL", f"smtp://127.0.0.1:{inbox.port}?tls=none")
    before = set(sys.modules)
    yield tmp_path
    for module in [each for each in set(sys.modules) - before if _lives_in(sys.modules[each], tmp_path)]:
        del sys.modules[module]


def _lives_in(module: Any, folder: Path) -> bool:
    return str(getattr(module, "__file__", None) or "").startswith(str(folder))


def runnable() -> list[Any]:
    """README has a test of its own, which runs it twice."""
    found = [page for page in pages.pages()[1:] if any(_runs(block) for block in pages.blocks(page))]
    return [pytest.param(page, id=pages.name(page)) for page in found]


def _runs(block: Block) -> bool:
    return (block.language == "python" and block.mark != "fragment") or block.mark in ("run", "file")


@pytest.mark.parametrize("page", runnable())
def test_what_a_page_shows_runs(
    page: Path, place: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "DATABASE_URL" in pages.text(page):
        monkeypatch.setenv("DATABASE_URL", request.getfixturevalue("postgres_url"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in filter(_runs, pages.blocks(page)):
        if block.mark == "file":
            there = place / block.file
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
        elif block.language == "sh":
            shell(block, monkeypatch)
        else:
            run(block, names)
    for left in [each for each in names.values() if isinstance(each, Duebook)]:
        left.sync.close()


def run(block: Block, names: dict[str, Any]) -> None:
    """Run a block as the next part of its page's program; its lines are numbered as on the page."""
    tree = ast.parse(block.text, str(block))
    ast.increment_lineno(tree, block.line)
    exec(compile(tree, block.page, "exec"), names)


def shell(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    """Carry out the duebook commands of a block."""
    import shlex

    for line in pages.shell_lines(block):
        words = shlex.split(line, comments=True)
        if words[0] == "export":
            variable, _, value = words[1].partition("=")
            monkeypatch.setenv(variable, value)
        else:
            assert words[0] == "duebook", f"{block}: only duebook commands can be run here"
            assert program.run(words[1:]) == 0, f"{block}: {line}"


def test_the_readme_sends_one_mail_however_often_it_is_run(place: Path, inbox: Inbox) -> None:
    (snippet,) = [block for block in pages.blocks(pages.ROOT / "README.md") if block.language == "python"]
    hasty = replace(snippet, text=snippet.text.replace("asyncio.sleep(3)", "asyncio.sleep(0)"))
    assert hasty != snippet
    run(snippet, {"__name__": "__main__"})
    names: dict[str, Any] = {"__name__": "__main__"}
    run(hasty, names)
    assert [mail["Subject"] for mail in inbox.mails] == ["Your plan renews soon"]
    assert inbox.mails[0].get_payload(decode=True).strip() == b"It renews on 13 February."
    (one,) = names["book"].sync.search()
    names["book"].sync.close()
    assert (one.state, one.number) == (State.ACCEPTED, 1)


def test_every_block_says_what_it_is() -> None:
    bare = [str(block) for page in pages.pages() for block in pages.blocks(page) if not block.language]
    assert not bare, "name the language of the block: python, sh, sql, text, ini, csv or mermaid"


def test_fragments_are_python_too() -> None:
    for page in pages.pages():
        for block in pages.blocks(page):
            if block.language == "python":
                compile(block.text, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
