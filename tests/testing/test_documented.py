"""The page about testing, run as its readers would, and what importing the kit asks for."""

import os
import subprocess
import sys
from pathlib import Path

from tests.docs import pages

PAGE = pages.DOCS / "howto/testing.md"


def test_what_the_page_shows_passes(tmp_path: Path) -> None:
    for block in pages.blocks(PAGE):
        if block.mark == "file":
            there = tmp_path / block.file
            there.parent.mkdir(exist_ok=True)
            there.write_text(block.text, encoding="utf-8")
    # The entry point is known only once the package is installed anew, so the plugin is named here.
    plugins = ["-p", "no:duebook", "-p", "duebook.testing.plugin", "-p", "no:cacheprovider"]
    words = [
        "-m",
        "pytest",
        "-q",
        "-o",
        "asyncio_mode=auto",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
        "-W",
        "error",
        *plugins,
    ]
    said = run(*words, folder=tmp_path)
    assert said.returncode == 0, said.stdout + said.stderr
    assert "3 passed" in said.stdout


def test_importing_it_needs_no_pytest() -> None:
    said = run("-c", "import sys; sys.modules['pytest'] = None; import duebook.testing")
    assert said.returncode == 0, said.stderr


def test_nothing_imports_it() -> None:
    said = run("-c", "import sys, duebook, duebook.worker, duebook.wiring; sys.exit('duebook.testing' in sys.modules)")
    assert said.returncode == 0


def run(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(pages.ROOT / "src"), str(folder or "")])}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
