"""Attached files: fetched when they are sent, and never others than the handler meant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest

from duebook import Due, Duebook, State
from duebook.channels.attachments import Folder, Source
from duebook.channels.smtp import Smtp
from duebook.domain.attachment import ATTACHED_BYTES, Attachment
from duebook.domain.message import Email
from duebook.domain.outcome import Accepted, Rejected, Retry
from duebook.errors import InvalidInput
from duebook.testing import Timeline
from duebook.testing.doubles import Drop, SmtpDouble

from .support import context, email

PLAN = b"%PDF the plan"


def plan(**changes: Any) -> Attachment:
    values = {"name": "plan.pdf", "media_type": "application/pdf", "source": "plans", "reference": "2027/1842.pdf"}
    return Attachment.of(changes.pop("content", PLAN), **{**values, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "plans"
    (found / "2027").mkdir(parents=True)
    (found / "2027/1842.pdf").write_bytes(PLAN)
    (tmp_path / "secret").write_bytes(PLAN)
    return found


@asynccontextmanager
async def post_office(source: Source) -> AsyncIterator[tuple[Smtp, SmtpDouble]]:
    async with SmtpDouble() as server:
        channel = Smtp("127.0.0.1", server.port, sender="plans@example.com", tls="none", attachments={"plans": source})
        try:
            yield channel, server
        finally:
            await channel.close()


def files(content: bytes) -> list[tuple[str | None, str, object]]:
    parts = message_from_bytes(content, policy=default).iter_attachments()
    return [(part.get_filename(), part.get_content_type(), part.get_payload(decode=True)) for part in parts]


async def test_a_file_goes_along(folder: Path) -> None:
    async with post_office(Folder(folder)) as (channel, server):
        outcome = await channel.send(email(attachments=[plan()]), context())
        assert isinstance(outcome, Accepted)
        assert files(server.accepted[0].content) == [("plan.pdf", "application/pdf", PLAN)]


async def test_a_source_may_be_a_function_awaited_or_not() -> None:
    async def awaited(reference: str) -> bytes:
        await asyncio.sleep(0)
        return reference.encode()

    for source in (awaited, str.encode):
        async with post_office(source) as (channel, server):
            attachment = plan(content=b"2027/1842.pdf")
            assert isinstance(await channel.send(email(attachments=[attachment]), context()), Accepted)
            assert len(server.accepted) == 1


@pytest.mark.parametrize("content", [b"%PDF another", b"", PLAN + b"\n"])
async def test_a_file_that_has_changed_is_never_sent(folder: Path, content: bytes) -> None:
    (folder / "2027/1842.pdf").write_bytes(content)
    async with post_office(Folder(folder)) as (channel, server):
        outcome = await channel.send(email(attachments=[plan()]), context())
        assert isinstance(outcome, Rejected)
        assert outcome.reason.startswith("attachment plan.pdf: plans answers other bytes")
        assert server.connections == 0


@pytest.mark.parametrize(
    "reference",
    ["2027/none.pdf", "2027", ".", "", "../secret", "2027/../../secret", "link.pdf", "/etc/hostname"],
)
async def test_nothing_but_files_of_the_folder_is_read(folder: Path, reference: str) -> None:
    (folder / "link.pdf").symlink_to(folder.parent / "secret")
    with pytest.raises(FileNotFoundError):
        Folder(folder)(reference)


async def test_no_more_is_read_than_could_be_sent(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(ATTACHED_BYTES * 4)
    assert len(Folder(tmp_path)("huge")) == ATTACHED_BYTES + 1


def raising(error: Exception) -> Source:
    def source(reference: str) -> bytes:
        raise error

    return source


def answering(answer: Any) -> Source:
    return lambda reference: answer


@pytest.mark.parametrize(
    ("source", "expected", "says"),
    [
        (raising(FileNotFoundError("gone")), Rejected, "plans has it no more: gone"),
        (raising(KeyError("1842")), Rejected, "plans has it no more"),
        (raising(PermissionError("no")), Retry, "plans failed: PermissionError: no"),
        (raising(RuntimeError("a\x00b")), Retry, "plans failed: RuntimeError: a\N{REPLACEMENT CHARACTER}b"),
        (answering("text"), Rejected, "answers other bytes"),
        (answering(None), Rejected, "other bytes than those"),
    ],
)
async def test_a_source_that_fails(source: Source, expected: type, says: str) -> None:
    async with post_office(source) as (channel, server):
        outcome = await channel.send(email(attachments=[plan()]), context())
        assert isinstance(outcome, expected)
        assert says in outcome.reason  # type: ignore[union-attr]
        assert server.connections == 0


async def test_a_source_that_never_answers_is_a_retry() -> None:
    async def silent(reference: str) -> bytes:
        await asyncio.Event().wait()
        raise AssertionError

    async with post_office(silent) as (channel, server):
        outcome = await channel.send(email(attachments=[plan()]), context(deadline_seconds=0.1))
        assert outcome == Retry("attachment plan.pdf: plans took too long")
        assert server.connections == 0


async def test_a_source_that_nobody_named_is_refused(folder: Path) -> None:
    async with post_office(Folder(folder)) as (channel, _):
        outcome = await channel.send(email(attachments=[plan(source="bills")]), context())
        assert outcome == Rejected("attachment plan.pdf: the channel has no source 'bills'")


def test_the_name_of_a_source_is_checked() -> None:
    with pytest.raises(InvalidInput, match="attachments"):
        Smtp(sender="plans@example.com", attachments={"pl ans": str.encode})


async def test_an_attempt_that_is_repeated_carries_identical_bytes(folder: Path) -> None:
    async with post_office(Folder(folder)) as (channel, server):
        server.next("dot", Drop(take=True))
        message = email(html="<p>Hi</p>", attachments=[plan(), plan(name="copy.pdf")])
        for _ in range(2):
            await channel.send(message, context())
        first, second = server.accepted
        assert first.content == second.content


async def test_a_file_that_changed_between_handler_and_wire_ends_in_review(folder: Path) -> None:
    book = Duebook("sqlite://")
    async with post_office(Folder(folder)) as (channel, server):
        book.add_channel("email", channel)

        @book.kind("plan", channel="email")
        async def handler(due: Due) -> Email:
            attachment = plan(content=(folder / "2027/1842.pdf").read_bytes())
            (folder / "2027/1842.pdf").write_bytes(b"%PDF another")
            return email(attachments=[attachment])

        with Timeline(book, keep=["email"]) as timeline:
            await book.schedule("plan", "1842", recipient="ann", at=timeline.now)
            await timeline.run_due()
            expected = await timeline.expecting("plan", "1842")
            assert expected.in_review(reason="answers other bytes").state is State.REVIEW
        assert server.accepted == []
