"""Everything else, by Apprise: a hundred services, of which little is known afterwards.

https://appriseit.com/
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..domain.message import Chat, Message
from ..domain.outcome import Accepted, Outcome, Rejected, Retry, Uncertain
from ..domain.policy import ChannelPolicy
from ..errors import InvalidInput, MissingExtra
from ..ports import SendContext
from .capabilities import Capabilities
from .deadline import Deadline

if TYPE_CHECKING:
    from apprise import Apprise

_SILENT = logging.CRITICAL + 1


class CatchAll:
    """Sends a Chat to one address that Apprise knows, such as `matrix://user:password@host/#room`.

    Apprise says whether it worked, and not why it did not: no status, no time to wait, no phase. Success is Accepted;
    any failure is Uncertain, even one that the service meant as a refusal, so a person has to look at it. Only an
    attempt for which no thread was free in time is Retry, as nothing was called. A cancelled attempt may still be sent.
    Apprise logs URLs with their secrets, and so does what it calls them by: both loggers are made silent.

    `url`: an Apprise URL; a secret. Its timeouts are Apprise's own (`?cto=` and `?rto=` in the URL). `concurrency`:
    threads per process; `rate`: messages per second over all workers; `pause`: how long failures hold the channel.
    `send_seconds` bounds an attempt.

    Raises InvalidInput for settings that cannot work and MissingExtra without apprise.
    """

    capabilities = Capabilities(server_errors="Uncertain, as every failure")

    def __init__(
        self,
        url: str,
        *,
        name: str = "catch-all",
        concurrency: int = 4,
        rate: float | None = None,
        pause: timedelta = timedelta(seconds=30),
        send_seconds: float = 30.0,
    ) -> None:
        if find_spec("apprise") is None:
            raise MissingExtra("the catch-all channel", "apprise")
        self.policy = ChannelPolicy(name, None, concurrency, rate, send_seconds, pause)
        for talkative in ("apprise", "urllib3.connectionpool"):
            logging.getLogger(talkative).setLevel(_SILENT)
        _service(url)
        self._url = url
        self._threads = ThreadPoolExecutor(concurrency, f"duebook-{name}")

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Chat):
            return Rejected(f"the channel {self.policy.name} takes Chat, not {type(message).__name__}")
        sending = self._threads.submit(self._notify, message)
        try:
            async with asyncio.timeout_at(deadline.at):
                worked = await asyncio.wrap_future(sending)
        except TimeoutError:
            if sending.cancel():
                return Retry("no thread was free in time")
            return Uncertain("no answer in time", phase="reply")
        return Accepted() if worked else Uncertain("Apprise says that it failed, and not why", phase="reply")

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _notify(self, message: Chat) -> bool:
        from apprise import NotifyFormat

        # A service of Apprise keeps state, and is made for one thread: each message gets its own.
        return bool(_service(self._url).notify(message.text, message.title or "", body_format=NotifyFormat.TEXT))

    def __repr__(self) -> str:
        return f"CatchAll(name={self.policy.name!r})"


def _service(url: str) -> Apprise:
    from apprise import Apprise

    service = Apprise()
    if not service.add(url):
        raise InvalidInput("url", "is no address that Apprise knows")
    return service
