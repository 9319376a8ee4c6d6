"""The same verbs twice: awaited, and not. Both are made from a room of features/, signatures and docstrings too."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from ..features.work import Work

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")


class AsyncRunner(Protocol):
    """Carries out work on a connection that is awaited."""

    def do(self, work: Work[R]) -> Awaitable[R]: ...


class SyncRunner(Protocol):
    """Carries out work on a connection that answers at once."""

    def do(self, work: Work[R]) -> R: ...


class AsyncRoom(Generic[V]):
    """A room whose verbs are awaited."""

    def __init__(self, verbs: V, runner: AsyncRunner) -> None:
        self._verbs = verbs
        self._runner = runner


class SyncRoom(Generic[V]):
    """A room for programs without an event loop."""

    def __init__(self, verbs: V, runner: SyncRunner) -> None:
        self._verbs = verbs
        self._runner = runner


def awaited(
    verb: Callable[Concatenate[V, P], Work[R]],
) -> Callable[Concatenate[AsyncRoom[V], P], Coroutine[Any, Any, R]]:
    """Return a verb as a method that is awaited."""

    @wraps(verb)
    async def method(self: AsyncRoom[V], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._runner.do(verb(self._verbs, *args, **kwargs))

    return method


def direct(verb: Callable[Concatenate[V, P], Work[R]]) -> Callable[Concatenate[SyncRoom[V], P], R]:
    """Return a verb as a method that answers at once."""

    @wraps(verb)
    def method(self: SyncRoom[V], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._runner.do(verb(self._verbs, *args, **kwargs))

    return method
