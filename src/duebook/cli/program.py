"""The command line put together: how a function becomes a command, and how every command ends."""

from __future__ import annotations

import asyncio
import inspect
import sys
import traceback
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from importlib import import_module, metadata
from typing import Annotated, Any, Protocol, TypeVar

import typer

from . import options
from .exits import MEANINGS, Exit
from .failing import Failure, failure
from .opening import Where
from .output import Reply, Screen
from .session import Session

C = TypeVar("C", bound=Callable[..., Coroutine[Any, Any, Reply]])

_FAMILIES = (
    "demonstrating", "owning", "importing", "schedules", "deadlines", "deadline_files", "unread", "digests",
    "digest_closing", "digest_files", "missed", "upcoming", "people", "receipts", "finding", "waiting", "reviewing",
    "worker",
    "migrating", "promoting", "status", "doctor", "auditing", "operating", "suppressions", "retiming", "previewing",
)  # fmt: skip
_CODES = "\n".join(["[bold]Exit codes[/bold]", *(f"{code.value:>3}  {meaning}" for code, meaning in MEANINGS.items())])

program = typer.Typer(
    name="duebook",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog=_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        try:
            print(f"duebook {metadata.version('duebook')}")
        except metadata.PackageNotFoundError:
            print("duebook, from its source tree")
        raise typer.Exit(Exit.DONE)


@program.callback()
def duebook(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which release this is.")
    ] = False,
) -> None:
    """Notifications that are due: sent once, on time, or you know why not."""


def command(panel: str, *examples: str, name: str | None = None, ready: bool = True) -> Callable[[C], C]:
    """Register an async function `(session, …) -> Reply` as a command, with --database, --app and --json added.

    `ready`: the database is opened and checked, and the kinds are known, before the function is called.
    """

    def register(function: C) -> C:
        return _registered(program, function, examples, name, ready, panel)

    return register


class Registrar(Protocol):
    """What registers the commands of a group, as `command` does those of the program."""

    def __call__(self, *examples: str, name: str | None = None) -> Callable[[C], C]: ...


def group(name: str, panel: str, words: str, *examples: str) -> Registrar:
    """Register a group of commands, such as `duebook schedules …`; answers what registers a command in it."""
    opened = typer.Typer(name=name, help=helped(words, *examples), no_args_is_help=True, rich_markup_mode="rich")
    program.add_typer(opened, rich_help_panel=panel)

    def register(*examples: str, name: str | None = None) -> Callable[[C], C]:
        return partial(_registered, opened, examples=examples, name=name, ready=True, panel=None)

    return register


def _registered(
    there: typer.Typer, function: C, examples: Sequence[str], name: str | None, ready: bool, panel: str | None
) -> C:
    called = name or function.__name__.replace("_", "-")
    words = helped(function.__doc__ or "", *examples)
    there.command(called, help=words, rich_help_panel=panel)(_runnable(function, ready))
    return function


def helped(words: str, *examples: str) -> str:
    """Return the help of a command: its docstring, then how it is called."""
    return inspect.cleandoc(words) + "\n\n[bold]For example[/bold]\n" + "\n".join(f"  {line}" for line in examples)


def _runnable(function: Callable[..., Coroutine[Any, Any, Reply]], ready: bool) -> Callable[..., None]:
    def run_command(**values: Any) -> None:
        where = Where(values.pop("database"), values.pop("app"))
        screen = Screen(values.pop("json"))
        raise typer.Exit(_carry_out(lambda session: function(session, **values), where, screen, ready))

    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, default, annotation in (
            ("database", None, options.Database), ("app", None, options.App), ("json", False, options.Json),
        )
    ]  # fmt: skip
    parameters = [*(item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in own), *shared]
    run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run_command.__annotations__ = {item.name: item.annotation for item in parameters}
    return run_command


def _carry_out(
    work: Callable[[Session], Coroutine[Any, Any, Reply]], where: Where, screen: Screen, ready: bool
) -> Exit:
    session = Session(where, screen)

    async def go() -> Reply:
        async with session.opened(ready):
            return await work(session)

    return concluded(lambda: asyncio.run(go()), screen, lambda: session.urls)


def concluded(work: Callable[[], Reply], screen: Screen, secrets: Callable[[], list[str]] = list) -> Exit:
    """Do the work of a command, say what came of it, and return the exit code.

    `secrets`: answers the database URLs whose passwords are kept out of what is said.
    """
    try:
        reply = work()
        screen.answer(reply)
    except KeyboardInterrupt:
        screen.fail({"error": "interrupted", "field": None}, "interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001  whatever it is, a person or a machine is told
        return _failed(error, secrets(), screen)
    return reply.code


def _failed(error: Exception, secrets: list[str], screen: Screen) -> Exit:
    known = failure(error) or Failure(Exit.FAULT, "".join(traceback.format_exception(error)).rstrip())
    for url in secrets:
        known = known.scrubbed(url)
    screen.fail(known.document, known.error)
    return known.code


def _usage(error: typer.TyperException, as_json: bool) -> Exit:
    field = getattr(getattr(error, "param", None), "name", None)
    if as_json:
        Screen(True).fail({"error": error.format_message(), "field": field}, "")
    else:
        context = getattr(error, "ctx", None)
        if context is not None:
            Screen(False).note(context.get_usage())
        Screen(False).fail(None, error.format_message() or "say what to do; duebook --help lists the commands")
    return Exit.USAGE


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    for family in _FAMILIES:
        import_module(f"{__package__}.{family}")
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(program(given, prog_name="duebook", standalone_mode=False) or Exit.DONE)
    except typer.TyperException as error:
        return _usage(error, "--json" in given)
    except (KeyboardInterrupt, typer.Abort):
        return Exit.INTERRUPTED
