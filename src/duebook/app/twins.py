"""The same verbs twice: awaited, and not. Both are made from verbs.py, with its signatures and its docstrings."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from .verbs import Context, Verbs
from .work import Work

P = ParamSpec("P")
R = TypeVar("R")


class AsyncRunner(Protocol):
    """Carries out work on a connection that is awaited."""

    def do(self, work: Work[R]) -> Awaitable[R]: ...


class SyncRunner(Protocol):
    """Carries out work on a connection that answers at once."""

    def do(self, work: Work[R]) -> R: ...


def _awaited(
    verb: Callable[Concatenate[Verbs, P], Work[R]],
) -> Callable[Concatenate[AsyncVerbs, P], Coroutine[Any, Any, R]]:
    @wraps(verb)
    async def method(self: AsyncVerbs, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._runner.do(verb(self._verbs, *args, **kwargs))

    return method


def _direct(verb: Callable[Concatenate[Verbs, P], Work[R]]) -> Callable[Concatenate[SyncVerbs, P], R]:
    @wraps(verb)
    def method(self: SyncVerbs, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._runner.do(verb(self._verbs, *args, **kwargs))

    return method


class AsyncVerbs:
    """The verbs, awaited."""

    def __init__(self, context: Context, runner: AsyncRunner) -> None:
        self._verbs = Verbs(context)
        self._runner = runner

    schedule = _awaited(Verbs.schedule)
    schedule_many = _awaited(Verbs.schedule_many)
    cancel = _awaited(Verbs.cancel)
    cancel_group = _awaited(Verbs.cancel_group)
    reschedule = _awaited(Verbs.reschedule)
    send_now = _awaited(Verbs.send_now)
    find = _awaited(Verbs.find)
    search = _awaited(Verbs.search)
    search_address = _awaited(Verbs.search_address)
    explain = _awaited(Verbs.explain)
    redrive = _awaited(Verbs.redrive)
    drop = _awaited(Verbs.drop)
    resolve = _awaited(Verbs.resolve)
    pause = _awaited(Verbs.pause)
    resume = _awaited(Verbs.resume)
    set_mode = _awaited(Verbs.set_mode)
    controls = _awaited(Verbs.controls)
    backlog = _awaited(Verbs.backlog)
    forget = _awaited(Verbs.forget)


class SyncVerbs:
    """The verbs for programs without an event loop."""

    def __init__(self, context: Context, runner: SyncRunner) -> None:
        self._verbs = Verbs(context)
        self._runner = runner

    schedule = _direct(Verbs.schedule)
    schedule_many = _direct(Verbs.schedule_many)
    cancel = _direct(Verbs.cancel)
    cancel_group = _direct(Verbs.cancel_group)
    reschedule = _direct(Verbs.reschedule)
    send_now = _direct(Verbs.send_now)
    find = _direct(Verbs.find)
    search = _direct(Verbs.search)
    search_address = _direct(Verbs.search_address)
    explain = _direct(Verbs.explain)
    redrive = _direct(Verbs.redrive)
    drop = _direct(Verbs.drop)
    resolve = _direct(Verbs.resolve)
    pause = _direct(Verbs.pause)
    resume = _direct(Verbs.resume)
    set_mode = _direct(Verbs.set_mode)
    controls = _direct(Verbs.controls)
    backlog = _direct(Verbs.backlog)
    forget = _direct(Verbs.forget)
