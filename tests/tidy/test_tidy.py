"""House rules that no linter knows. Each failure says where, and what to write instead."""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/duebook"
OURS = [ROOT / name for name in ("src", "tests", "bench", "docs", "examples")]
CLOCK = PACKAGE / "clock.py"
SQLITE = PACKAGE / "stores/sqlite"
POSTGRES = PACKAGE / "stores/postgres"

LONGEST_FILE = 400
LONGEST_FUNCTION = 50

WALL_CLOCK = re.compile(r"\b(datetime\.(now|utcnow|today)|date\.today|time\.time(_ns)?)$")
SQL_CLOCK = re.compile(
    r"""\b(now|(clock|statement|transaction)_timestamp|timeofday)\s*\(
      | \b(current|local)_?(timestamp|time|date)\b
      | '(now|today|tomorrow|yesterday)'
      | \b(date|time|datetime|julianday|unixepoch)\(\s*\)""",
    re.IGNORECASE | re.VERBOSE,
)
# Written so that neither finds itself.
REGISTRY = re.compile(r"pypi[.](org|python)|python[h]osted|registry[.](npm|yarn)|(deb|ftp)[.]debian")
MACHINE_PATH = re.compile(r"(?<![\w.~}/-])/(work|root|home)/")


def test_no_file_is_too_long() -> None:
    long = [
        f"{at(path)}: {lines} lines"
        for folder in OURS
        for path in python(folder)
        if (lines := len(text(path).splitlines())) > LONGEST_FILE
    ]
    refuse(long, f"split it by what a reader looks for; {LONGEST_FILE} lines is the most")


def test_no_function_is_too_long() -> None:
    long = [
        f"{at(path, node)} {node.name}: {lines} lines"
        for folder in OURS
        for path in python(folder)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > LONGEST_FUNCTION
    ]
    refuse(long, f"name its steps as functions; {LONGEST_FUNCTION} lines is the most")


def test_time_comes_from_the_clock() -> None:
    files = [path for path in python(PACKAGE) if path != CLOCK]
    found = calls(files, lambda call: WALL_CLOCK.search(ast.unparse(call.func)))
    refuse(found, f"take `now` as an argument, or ask the Clock port; only {at(CLOCK)} reads the time")


def test_sql_is_told_the_time() -> None:
    found = [
        f"{at(path)}:{number}: {line.strip()}"
        for path in sql_files()
        if path.name != "read_clock.sql"
        for number, line in enumerate(text(path).splitlines(), 1)
        if SQL_CLOCK.search(line.partition("--")[0])
    ]
    refuse(found, "pass the time as a parameter; only read_clock.sql asks the database")


def test_both_stores_have_the_same_statements() -> None:
    sqlite, postgres = (
        {path.relative_to(top).as_posix() for path in sql_files() if path.parent in (top / "sql", top / "parts")}
        for top in (SQLITE, POSTGRES)
    )
    assert sqlite, f"no statements in {at(SQLITE)}: has the folder moved?"
    one_sided = [
        *(f"{name}: only in {at(SQLITE)}" for name in sorted(sqlite - postgres)),
        *(f"{name}: only in {at(POSTGRES)}" for name in sorted(postgres - sqlite)),
    ]
    refuse(one_sided, "write the verb for the other dialect too, under the same name")


def test_every_sql_file_says_what_it_is_for() -> None:
    silent = [at(path) for path in sql_files() if not text(path).startswith("--")]
    refuse(silent, "begin it with a `--` comment: what it is for, and where it differs from its twin")


def test_tests_do_not_sleep() -> None:
    sleeps = {"time.sleep", "asyncio.sleep", "anyio.sleep", "sleep"}
    found = calls(
        python(ROOT / "tests"),
        lambda call: ast.unparse(call.func) in sleeps and ast.unparse(call) != "asyncio.sleep(0)",
    )
    refuse(found, "wait for the event, or move the SimClock; asyncio.sleep(0) lets others run")


def test_only_the_command_line_prints() -> None:
    files = [path for path in python(PACKAGE) if "cli" not in path.relative_to(PACKAGE).with_suffix("").parts]
    found = calls(files, lambda call: ast.unparse(call.func) == "print")
    refuse(found, "return the value, or log it; printing belongs to duebook.cli")


def test_no_registry_is_named() -> None:
    refuse(mentions(REGISTRY), "name the package; where it comes from is the machine's own setting")


def test_no_path_of_a_machine_is_named() -> None:
    refuse(
        mentions(MACHINE_PATH),
        "write the path relative to the project, or take it from the environment",
    )


def test_public_names_are_listed_and_sorted() -> None:
    import duebook

    module = type(ast)
    public = {
        name
        for name, value in vars(duebook).items()
        if not name.startswith("_") and not isinstance(value, module) and name != "annotations"
    }
    assert list(duebook.__all__) == sorted(duebook.__all__), "sort duebook.__all__"
    refuse(
        sorted(public ^ set(duebook.__all__)),
        "list it in duebook.__all__, or import it as `_name`",
    )


def test_type_checkers_see_the_annotations() -> None:
    assert (PACKAGE / "py.typed").is_file(), "keep an empty src/duebook/py.typed, or users see no types"


def refuse(found: list[str], instead: str) -> None:
    if found:
        pytest.fail("\n  ".join([f"{instead}.", *found]), pytrace=False)


def at(path: Path, node: ast.stmt | ast.expr | None = None) -> str:
    return path.relative_to(ROOT).as_posix() + (f":{node.lineno}" if node else "")


def calls(files: list[Path], wanted: Callable[[ast.Call], object]) -> list[str]:
    return [
        f"{at(path, node)}: {ast.unparse(node)}"
        for path in files
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and wanted(node)
    ]


def mentions(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{at(path)}:{number}: {line.strip()[:100]}"
        for path in committed()
        for number, line in enumerate(text(path).splitlines(), 1)
        if pattern.search(line)
    ]


def python(folder: Path) -> list[Path]:
    found = [path for path in committed() if path.suffix == ".py" and path.is_relative_to(folder)]
    assert found, f"no Python files in {at(folder)}: has the folder moved?"
    return found


def sql_files() -> Iterator[Path]:
    return (path for path in committed() if path.suffix == ".sql" and path.is_relative_to(PACKAGE))


@cache
def committed() -> list[Path]:
    """Every file that is in the repository or would go in with `git add .`"""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = {ROOT / name for name in listed.stdout.decode().split("\0") if name}
    return sorted(path for path in paths if path.is_file())


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="ignore")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(text(path))
