"""JetStream as this queue needs it: to ask the server, to publish many and to pull what is there.

The server's own API (https://docs.nats.io/reference/jetstream/api) over the connection of nats-py: the client's `fetch`
would wait for a whole batch once the first message is there, and its `publish` waits for each message by itself.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.aio.subscription import Subscription

ANSWER_SECONDS = 5.0
"""For how long the server may be silent before it counts as gone."""

NOT_FOUND = 404
_NO_MORE = frozenset({"404", "408"})
_NO_RESPONDERS = "503"
_NOBODY = "nobody takes messages there: JetStream is off, or the stream is gone"


class Refused(Exception):
    """The server said no. `code`: as in HTTP."""

    def __init__(self, code: int, description: str) -> None:
        self.code = code
        super().__init__(description)


class Outgoing(NamedTuple):
    subject: str
    body: bytes
    headers: dict[str, str] | None = None


class JetStream:
    """One connection, for as long as it lasts. All methods raise Refused, and the errors of nats-py where the
    connection breaks or nothing comes back. `prepared`: the streams that are known to exist."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.prepared: set[str] = set()

    @property
    def open(self) -> bool:
        return self._client.is_connected

    @property
    def release(self) -> tuple[int, int]:
        version = self._client.connected_server_version
        return version.major, version.minor

    async def ask(self, verb: str, request: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the answer to one request of the JSON API, such as `STREAM.INFO.orders`."""
        from nats.errors import NoRespondersError

        body = json.dumps(request).encode() if request else b""
        try:
            return _answer(await self._client.request(f"$JS.API.{verb}", body, timeout=ANSWER_SECONDS))
        except NoRespondersError:
            raise Refused(int(_NO_RESPONDERS), _NOBODY) from None

    async def publish(self, messages: Sequence[Outgoing]) -> None:
        """Return when the server has stored all of them."""
        async with self._inbox() as (address, answers):
            for message in messages:
                await self._client.publish(message.subject, message.body, reply=address, headers=message.headers)
            for _ in messages:
                _answer(await answers.next_msg(timeout=ANSWER_SECONDS))

    async def pull(self, consumer: str, most: int, wait_seconds: float = 0) -> list[Msg]:
        """Return up to `most` messages that are there now. With `wait_seconds` wait until there are as many.

        `consumer`: the names of stream and consumer, joined by a dot.
        """
        # To the server no time at all means for ever.
        terms = {"expires": max(1, int(wait_seconds * 1e9))} if wait_seconds else {"no_wait": True}
        messages: list[Msg] = []
        async with self._inbox() as (address, answers):
            request = json.dumps({"batch": most, **terms}).encode()
            await self._client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{consumer}", request, reply=address)
            while len(messages) < most:
                message = await answers.next_msg(timeout=wait_seconds + ANSWER_SECONDS)
                if (status := _status(message)) in _NO_MORE:
                    break
                if status:
                    raise Refused(int(status), (message.headers or {}).get("Description", _NOBODY))
                messages.append(message)
        return messages

    async def settle(self, addresses: Sequence[str], word: bytes) -> None:
        """Say a word about messages: `+ACK`, `-NAK`, `+WPI` (still at work) or `+TERM` (never again).

        `addresses`: where each wants its answer. Returns when the server has got them.
        """
        for address in addresses:
            await self._client.publish(address, word)
        await self._client.flush(timeout=int(ANSWER_SECONDS))

    async def close(self) -> None:
        await self._client.close()

    @asynccontextmanager
    async def _inbox(self) -> AsyncIterator[tuple[str, Subscription]]:
        address = self._client.new_inbox()
        answers = await self._client.subscribe(address)
        try:
            yield address, answers
        finally:
            if self.open:
                await answers.unsubscribe()


def _answer(message: Msg) -> dict[str, Any]:
    if _status(message) == _NO_RESPONDERS:
        raise Refused(int(_NO_RESPONDERS), _NOBODY)
    answer: dict[str, Any] = json.loads(message.data)
    if refusal := answer.get("error"):
        raise Refused(int(refusal["code"]), str(refusal.get("description", "without a reason")))
    return answer


def _status(message: Msg) -> str | None:
    return (message.headers or {}).get("Status")


async def connect(url: str) -> JetStream:
    """Return a connection that does not mend itself: whoever uses it learns at once that it broke.

    Raises OSError, TimeoutError and the errors of nats-py: the reason, not just that there is no server.
    """
    from nats.aio.client import Client
    from nats.errors import NoServersError

    reasons: list[Exception] = []

    async def keep(reason: Exception) -> None:
        reasons.append(reason)

    client = Client()
    try:
        await client.connect(
            url,
            name="duebook",
            error_cb=keep,
            connect_timeout=int(ANSWER_SECONDS),
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
        )
    except NoServersError as error:
        raise (reasons or [error])[-1] from None
    except BaseException:
        await client.close()
        raise
    return JetStream(client)
