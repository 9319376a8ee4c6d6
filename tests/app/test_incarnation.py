"""A database that may have forgotten what was sent sends nothing until a person has looked."""

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
            await desk.book.wired._refresh()
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


async def test_memory_is_never_restored() -> None:
    assert await Wired("sqlite://").database.incarnation() is None


async def test_a_database_has_one_identity_however_often_it_is_asked(book: Duebook) -> None:
    found = {await book.wired.database.incarnation() for _ in range(2)}
    assert len(found) == 1
    assert None not in found
