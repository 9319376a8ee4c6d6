"""A database that may have forgotten what was sent sends nothing until a person has looked."""

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path

from duebook import Duebook, State
from duebook.wiring import Wired
from tests.app.desk import HOUR, SETTINGS, Clock, Desk
from tests.app.places import Place, sqlite_place


async def held(desk: Desk) -> str | None:
    """Why everything is paused, if it is."""
    found = [control for control in await desk.book.controls() if control.scope == "everything" and control.paused_at]
    return found[0].reason if found else None


def started(place: Place, clock: Clock) -> Desk:
    """The desk of a program that starts on a place."""
    book = Duebook(place.url, namespace="test", message_domain="mail.example.org", settings=SETTINGS)
    desk = Desk(book, clock, place)
    desk.channel()
    desk.kind()
    return desk


async def test_a_worker_that_starts_again_on_the_same_database_goes_on(desk: Desk) -> None:
    for key in ("a", "b", "c"):
        async with desk.worker():
            await desk.schedule(key)
            await desk.until(State.ACCEPTED, key)
    assert await held(desk) is None
    assert desk.place.count("incarnation") == 1


async def test_a_running_worker_looks_again_and_again_and_finds_itself(desk: Desk) -> None:
    async with desk.worker():
        for _ in range(3):
            await desk.book.wired.refresh()
    assert await held(desk) is None


async def test_another_database_than_before_pauses_everything_says_why_and_goes_on_when_told(desk: Desk) -> None:
    async with desk.worker():
        await desk.schedule("a")
        await desk.until(State.ACCEPTED, "a")
    desk.place.ask("update @incarnation set identity = 'another'")
    await desk.schedule("b")
    desk.clock.advance(timedelta(seconds=1))
    async with desk.worker():
        reason = await held(desk)
        assert reason is not None
        assert reason.startswith("this database was restored from a backup, or another server took over")
        assert "duebook resume" in reason
        assert (await desk.read("b")).state is State.SCHEDULED
        await desk.book.resume()
        await desk.until(State.ACCEPTED, "b")
    async with desk.worker():
        assert await held(desk) is None, "it is known now"
    assert [context.key for _, context in desk.sent] == ["a", "b"]


async def test_a_copy_that_was_put_back_does_not_send_again_what_it_forgot(
    migrated_file: Path, tmp_path: Path, clock: Clock
) -> None:
    path, backup = tmp_path / "book.db", tmp_path / "backup.db"
    place = sqlite_place(Path(shutil.copy(migrated_file, path)))
    first = started(place, clock)
    async with first.worker():
        await first.schedule("early")
        await first.until(State.ACCEPTED, "early")
    await first.schedule("late", after=HOUR)
    await first.book.close()
    shutil.copy(path, backup)

    going_on = started(place, clock)
    clock.advance(HOUR)
    async with going_on.worker():
        await going_on.until(State.ACCEPTED, "late")
    await going_on.book.close()

    backup.replace(path)
    restored = started(place, clock)
    async with restored.worker():
        assert await held(restored) is not None
        assert (await restored.read("late")).state is State.SCHEDULED
        await restored.book.cancel("note", "late", reason="it was sent before the backup was put back")
        await restored.book.resume()
        await restored.schedule("after")
        await restored.until(State.ACCEPTED, "after")
    await restored.book.close()
    assert [context.key for _, context in restored.sent] == ["after"]


async def test_a_copy_written_into_the_old_file_is_noticed_as_well(
    migrated_file: Path, tmp_path: Path, clock: Clock
) -> None:
    path, backup = tmp_path / "book.db", tmp_path / "backup.db"
    place = sqlite_place(Path(shutil.copy(migrated_file, path)))
    for _ in range(2):
        desk = started(place, clock)
        async with desk.worker():
            assert await held(desk) is None
        await desk.book.close()
        if not backup.exists():
            shutil.copy(path, backup)
    shutil.copyfile(backup, path)
    restored = started(place, clock)
    async with restored.worker():
        assert await held(restored) is not None
    await restored.book.close()


async def test_a_file_without_its_witness_is_a_copy(migrated_file: Path, tmp_path: Path, clock: Clock) -> None:
    place = sqlite_place(Path(shutil.copy(migrated_file, tmp_path / "book.db")))
    first = started(place, clock)
    async with first.worker():
        assert await held(first) is None
    await first.book.close()
    moved = sqlite_place(Path(shutil.copy(tmp_path / "book.db", tmp_path / "elsewhere.db")))
    second = started(moved, clock)
    async with second.worker():
        assert await held(second) is not None
    await second.book.close()


async def test_workers_beside_each_other_are_no_restore(desk: Desk) -> None:
    async with desk.worker(), desk.worker():
        await asyncio.gather(*(desk.book.wired.refresh() for _ in range(5)))
        assert await held(desk) is None


async def test_looking_at_it_leaves_it_as_it_is(desk: Desk) -> None:
    async with desk.worker():
        pass
    async with desk.book.wired.database.incarnation() as found:
        assert found is not None
    async with desk.worker():
        assert await held(desk) is None


async def test_memory_is_never_restored() -> None:
    async with Wired("sqlite://").database.incarnation() as found:
        assert found is None


async def test_a_witness_that_cannot_be_written_tells_nothing(tmp_path: Path) -> None:
    async with Wired(f"sqlite:///{tmp_path}/nowhere/book.db").database.incarnation() as found:
        assert found is None
