"""The two drivers of a plan, without any database."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress

import pytest

from duebook.ports import Rows
from duebook.stores.drive import drive, drive_async

Driven = Callable[[Generator[str, Rows, str]], Awaitable[str]]


class Trouble(Exception):
    pass


def answer(asked: str) -> Rows:
    if asked == "trouble":
        raise Trouble(asked)
    return [[asked.upper()]]


async def answer_later(asked: str) -> Rows:
    return answer(asked)


@pytest.fixture(params=["sync", "async"])
def driven(request: pytest.FixtureRequest) -> Driven:
    async def in_place(plan: Generator[str, Rows, str]) -> str:
        return drive(plan, answer)

    async def awaited(plan: Generator[str, Rows, str]) -> str:
        return await drive_async(plan, answer_later)

    return in_place if request.param == "sync" else awaited


def words(*asked: str, mends: bool = False) -> Generator[str, Rows, str]:
    said = ""
    for word in asked:
        try:
            said += (yield word)[0][0]
        except Trouble:
            if not mends:
                raise
            said += "?"
    return said


async def test_rows_are_sent_back_and_the_result_is_returned(driven: Driven) -> None:
    assert await driven(words("a", "b")) == "AB"
    assert await driven(words()) == ""


async def test_an_error_is_raised_inside_the_plan(driven: Driven) -> None:
    with pytest.raises(Trouble):
        await driven(words("a", "trouble", "b"))
    assert await driven(words("a", "trouble", "b", mends=True)) == "A?B"


async def test_the_plan_is_closed_whatever_happens(driven: Driven) -> None:
    for asked in (["a"], ["trouble"]):
        plan = words(*asked)
        with suppress(Trouble):
            await driven(plan)
        assert inspect.getgeneratorstate(plan) == inspect.GEN_CLOSED


async def test_the_plan_is_closed_when_its_task_is_cancelled() -> None:
    async def never(asked: str) -> Rows:
        return await asyncio.Future()

    plan = words("a")
    task = asyncio.ensure_future(drive_async(plan, never))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert inspect.getgeneratorstate(plan) == inspect.GEN_CLOSED
