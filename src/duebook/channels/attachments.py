"""The files of a mail, fetched when it is sent. They must be the very ones its handler meant.

A message that is in doubt goes out again with the same bytes or not at all, so a file that has changed is refused.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from ..domain.attachment import ATTACHED_BYTES, Attachment
from ..domain.outcome import Rejected, Retry
from ..domain.text import clean
from .deadline import Deadline

Source = Callable[[str], bytes | Awaitable[bytes]]
"""Answers the bytes of a reference. It raises LookupError or FileNotFoundError for what is gone for good; whatever else
it raises is taken for a trouble that passes. A plain function runs in a thread."""


class Folder:
    """A source of files below a folder; a reference is a path below it, with `/`. Nothing outside of it is read, also
    not by a symbolic link."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._top = Path(path).resolve()

    def __call__(self, reference: str) -> bytes:
        path = (self._top / reference).resolve()
        if not path.is_relative_to(self._top) or not path.is_file():
            raise FileNotFoundError(f"there is no file {reference} in the folder")
        with path.open("rb") as file:
            return file.read(ATTACHED_BYTES + 1)

    def __repr__(self) -> str:
        return f"Folder({str(self._top)!r})"


async def fetched(
    attachments: Sequence[Attachment], sources: Mapping[str, Source], deadline: Deadline
) -> list[bytes] | Rejected | Retry:
    """Return the bytes of every attachment, or what it means for the message that one of them is not to be had."""
    contents = []
    for each in attachments:
        content = await _content(each, sources, deadline)
        if not isinstance(content, bytes):
            return content
        contents.append(content)
    return contents


async def _content(
    attachment: Attachment, sources: Mapping[str, Source], deadline: Deadline
) -> bytes | Rejected | Retry:
    what = f"attachment {attachment.name}"
    if (source := sources.get(attachment.source)) is None:
        return Rejected(f"{what}: the channel has no source {attachment.source!r}")
    try:
        async with asyncio.timeout(deadline.left()):
            content = await _asked(source, attachment.reference)
    except (LookupError, FileNotFoundError) as error:
        return Rejected(clean(f"{what}: {attachment.source} has it no more: {error}"))
    except TimeoutError:
        return Retry(f"{what}: {attachment.source} took too long")
    except Exception as error:  # noqa: BLE001  a source is the application's; nothing has been sent, whatever it raises
        return Retry(clean(f"{what}: {attachment.source} failed: {type(error).__name__}: {error}"))
    if not isinstance(content, bytes) or not attachment.is_of(content):
        return Rejected(f"{what}: {attachment.source} answers other bytes than those the message was made with")
    return content


async def _asked(source: Source, reference: str) -> object:
    answer = await asyncio.to_thread(source, reference)
    return await answer if inspect.isawaitable(answer) else answer
