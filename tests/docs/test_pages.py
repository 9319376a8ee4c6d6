"""The pages say what the code says, every link leads somewhere, and the command line is the one that exists."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs.parts.commands import commands as every_command
from tests.tidy.test_tidy import MACHINE_PATH, REGISTRY

from . import pages

LONGEST = 160
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
TEST = re.compile(r"`(tests/[\w/]+(?:\.py)?)(?:::(\w+))?`")
SOURCE = re.compile(
    r"`((?:domain|engine|stores|app|channels|cli)/[\w/.*]+|(?:worker|wiring|ports|portal|clock|errors)\.py)`"
)


@pytest.fixture(scope="module")
def commands() -> dict[str, Any]:
    return every_command()


def test_generated_parts_are_up_to_date() -> None:
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "docs.generate", "--check"],
        cwd=pages.DOCS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0, f"run: python -m docs.generate\n{said.stdout}{said.stderr}"


def test_every_link_leads_somewhere() -> None:
    broken = []
    for page in pages.pages():
        for target in LINK.findall(pages.prose(page)):
            if target.startswith(("https://", "http://", "mailto:")):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or (anchor and anchor not in pages.anchors(there)):
                broken.append(f"{pages.name(page)}: {target}")
    assert not broken


def test_every_page_is_reached_from_the_index() -> None:
    reached: set[Path] = set()
    waiting = [pages.DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = [target.partition("#")[0] for target in LINK.findall(pages.prose(page)) if "://" not in target]
        waiting += [(page.parent / target).resolve() for target in targets if target]
    assert not {pages.name(page) for page in pages.pages()} - {pages.name(page) for page in reached}


def test_no_page_is_too_long() -> None:
    """A page whose parts are printed from the code may be as long as the code makes it."""
    long = [
        pages.name(page)
        for page in pages.pages()
        if "<!-- generated: " not in pages.text(page) and pages.text(page).count("\n") > LONGEST
    ]
    assert not long


def test_every_command_that_is_named_exists_with_its_options(commands: dict[str, Any]) -> None:
    wrong, groups = [], [[name.split()[0]] for name in commands if " " in name]
    for page in pages.pages():
        for where, words in pages.calls(page):
            if words[0].startswith("-") or words[0] == "…" or words in groups:
                continue
            command = commands.get(_command(words, commands))
            known = {option for parameter in command.params for option in parameter.opts} if command else set()
            strange = [word for word in words[1:] if re.match(r"--[a-z]", word) and word.partition("=")[0] not in known]
            if command is None or strange:
                wrong.append(f"{where}: duebook {' '.join(words)}")
    assert not wrong


def test_every_command_is_named_where_people_learn(commands: dict[str, Any]) -> None:
    """The reference is printed from the code, so it does not count."""
    told = {
        _command(words, commands)
        for page in pages.pages()
        if "reference" not in page.parts
        for _, words in pages.calls(page)
    }
    assert not commands.keys() - told


def _command(words: list[str], commands: dict[str, Any]) -> str:
    """Return the name of the command that words call: one of a group has two."""
    grouped = " ".join(words[:2])
    return grouped if grouped in commands else words[0]


def test_the_tests_and_sources_that_are_named_exist() -> None:
    missing = []
    for page in pages.pages():
        for path, function in TEST.findall(pages.prose(page)):
            there = pages.ROOT / path
            if not there.exists() or (function and f"def {function}(" not in there.read_text(encoding="utf-8")):
                missing.append(f"{pages.name(page)}: {path} {function}")
        missing += [
            f"{pages.name(page)}: {path}"
            for path in SOURCE.findall(pages.prose(page))
            if not list((pages.ROOT / "src/duebook").glob(path.rstrip("/")))
        ]
    assert not missing


def test_every_error_of_the_library_is_explained() -> None:
    from duebook import errors

    page = pages.text(pages.DOCS / "reference/errors.md")
    assert not [name for name in vars(errors) if name.endswith("Error") and f"`{name}`" not in page]


def test_no_registry_and_no_path_of_a_machine_is_named() -> None:
    """The tidy tests ask this of every file; here it is said early and about the pages alone."""
    found = [
        f"{pages.name(page)}:{number}"
        for page in pages.pages()
        for number, line in enumerate(pages.text(page).splitlines(), 1)
        if REGISTRY.search(line) or MACHINE_PATH.search(line)
    ]
    assert not found
