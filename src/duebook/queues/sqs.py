"""The queue on Amazon SQS, and on what speaks its protocol."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from importlib.util import find_spec
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from ..domain.policy import checked_name
from ..errors import InvalidInput, MissingExtra, QueueUnavailable
from ..ports.queue import Delivery, QueueHealth
from .address import place
from .message import batches, checked_hold, checked_queue, decode, encode, whole_seconds

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient
    from types_aiobotocore_sqs.type_defs import BatchResultErrorEntryTypeDef, MessageTypeDef

# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-quotas.html
_BATCH = 10
_LONGEST_DELAY = timedelta(minutes=15)
_LONGEST_WAIT_SECONDS = 20
_LONGEST_HOLD_SECONDS = 12 * 60 * 60
_LONGEST_RETENTION_SECONDS = 14 * 24 * 60 * 60
_LONGEST_NAME = 80

_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 5
_ATTEMPTS = 2
_REGION = re.compile(r"[a-z0-9-]+")


class SqsQueue:
    """Carries ids by Amazon SQS, in a standard queue for each name, made when it is missing. The longest delay is 15
    minutes, the limit of SQS.

    `url`: `sqs://` and a region; `sqs://eu-west-1?endpoint=http://127.0.0.1:5000` for another server. Credentials come
    from where all programs on AWS look for them: the environment, the files in `~/.aws`, or the role of the machine.
    `prefix`: begins the names of all queues; `duebook-mail` is that of mail. SQS knows no dot, so a dot in a name
    becomes `_-`, and an underscore is doubled. `hold_seconds`: for how long a message that was received is nobody
    else's, at most 12 hours.

    A queue that is there already keeps its settings. SQS waits in whole seconds, so `receive` may wait for up to one
    second more than it was asked to. What is none of ours goes to the queue `<prefix>_aside`, which keeps it for 14
    days; how many are there is counted by SQS, about.

    Raises InvalidInput for settings that cannot work and MissingExtra without aiobotocore.
    """

    max_delay: timedelta | None = _LONGEST_DELAY

    def __init__(self, url: str, *, prefix: str = "duebook", hold_seconds: int = 60) -> None:
        if find_spec("aiobotocore") is None:
            raise MissingExtra("a queue on Amazon SQS", "sqs")
        self._address = _Address.read(url)
        self._prefix = _escaped(checked_name("prefix", prefix))
        self._hold_seconds = checked_hold(hold_seconds)
        if hold_seconds > _LONGEST_HOLD_SECONDS:
            raise InvalidInput("hold_seconds", f"must be at most {_LONGEST_HOLD_SECONDS}, not {hold_seconds}")
        self._client: SQSClient | None = None
        self._resources = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._urls: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"SqsQueue({str(self._address)!r}, prefix={self._prefix!r})"

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        queue, seconds = self._queue(name), whole_seconds(delay, self.max_delay)
        async with self._answering() as client:
            url = await self._url(client, queue)
            for batch in batches(ids, _BATCH):
                bodies = enumerate(encode(id).decode() for id in batch)
                answer = await client.send_message_batch(
                    QueueUrl=url,
                    Entries=[{"Id": str(at), "MessageBody": body, "DelaySeconds": seconds} for at, body in bodies],
                )
                self._refuse(answer.get("Failed", ()))

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        queue = self._queue(name)
        now = asyncio.get_running_loop().time
        until = now() + wait_seconds
        async with self._answering() as client:
            url = await self._url(client, queue)
            while True:
                answer = await client.receive_message(
                    QueueUrl=url,
                    MaxNumberOfMessages=min(most, _BATCH),
                    WaitTimeSeconds=min(ceil(max(0.0, until - now())), _LONGEST_WAIT_SECONDS),
                    VisibilityTimeout=self._hold_seconds,
                )
                messages = answer.get("Messages", ())
                found = [each for message in messages if (each := await self._read(client, url, message))]
                if found or now() >= until:
                    return found

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        queue = self._queue(name)
        async with self._answering() as client:
            url = await self._url(client, queue)
            for batch in batches(deliveries, _BATCH):
                answer = await client.delete_message_batch(
                    QueueUrl=url,
                    Entries=[{"Id": str(at), "ReceiptHandle": each.handle} for at, each in enumerate(batch)],
                )
                self._refuse(_not_outdated(answer.get("Failed", ())))

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._hide(name, deliveries, 0)

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._hide(name, deliveries, self._hold_seconds)

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        try:
            async with self._answering() as client, asyncio.timeout(_ANSWER_SECONDS):
                set_aside = await self._count_aside(client)
        except QueueUnavailable as error:
            return QueueHealth(reachable=False, detail=str(error))
        return QueueHealth(reachable=True, detail=str(self._address), set_aside=set_aside)

    async def close(self) -> None:
        self._client = None
        self._urls.clear()
        await self._resources.aclose()

    async def _hide(self, name: str, deliveries: Sequence[Delivery], seconds: int) -> None:
        """Show messages to nobody for some seconds from now."""
        queue = self._queue(name)
        async with self._answering() as client:
            url = await self._url(client, queue)
            for batch in batches(deliveries, _BATCH):
                answer = await client.change_message_visibility_batch(
                    QueueUrl=url,
                    Entries=[
                        {"Id": str(at), "ReceiptHandle": each.handle, "VisibilityTimeout": seconds}
                        for at, each in enumerate(batch)
                    ],
                )
                self._refuse(_not_outdated(answer.get("Failed", ())))

    async def _read(self, client: SQSClient, url: str, message: MessageTypeDef) -> Delivery | None:
        """Return what a message says, or None for one that is none of ours and is set aside."""
        body, handle = message["Body"], message["ReceiptHandle"]
        if (id := decode(body.encode())) is not None:
            return Delivery(id, handle)
        aside = await self._url(client, self._aside, {"MessageRetentionPeriod": str(_LONGEST_RETENTION_SECONDS)})
        await client.send_message(QueueUrl=aside, MessageBody=body)
        await client.delete_message(QueueUrl=url, ReceiptHandle=handle)
        return None

    async def _count_aside(self, client: SQSClient) -> int:
        try:
            url = (await client.get_queue_url(QueueName=self._aside))["QueueUrl"]
            answer = await client.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
        except client.exceptions.QueueDoesNotExist:
            return 0
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])

    def _queue(self, name: str) -> str:
        queue = f"{self._prefix}-{_escaped(checked_queue(name))}"
        if len(queue) > _LONGEST_NAME:
            raise InvalidInput("name", f"{queue!r} is longer than the {_LONGEST_NAME} characters that SQS takes")
        return queue

    @property
    def _aside(self) -> str:
        return f"{self._prefix}_aside"

    async def _url(self, client: SQSClient, queue: str, attributes: dict[Any, str] | None = None) -> str:
        """Return the URL of a queue, which is made with these attributes if it is missing."""
        if queue not in self._urls:
            try:
                self._urls[queue] = (await client.get_queue_url(QueueName=queue))["QueueUrl"]
            except client.exceptions.QueueDoesNotExist:
                made = await client.create_queue(QueueName=queue, Attributes=attributes or {})
                self._urls[queue] = made["QueueUrl"]
        return self._urls[queue]

    def _refuse(self, failed: Sequence[BatchResultErrorEntryTypeDef]) -> None:
        if failed:
            raise QueueUnavailable(f"{self._address} refused {len(failed)} messages of a batch: {failed[0]['Code']}")

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[SQSClient]:
        """Yield the client. Raises QueueUnavailable for its errors, of which only the code is told: a message about a
        signature may hold a session's token."""
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield await self._opened()
        except ClientError as error:
            self._urls.clear()  # one of the queues may be gone
            code = error.response.get("Error", {}).get("Code", "no code")
            raise QueueUnavailable(f"{self._address} refused {error.operation_name}: {code}") from None
        except (BotoCoreError, OSError) as error:
            raise QueueUnavailable(f"{self._address}: {error or 'no answer'}") from None

    async def _opened(self) -> SQSClient:
        from aiobotocore.config import AioConfig
        from aiobotocore.session import get_session

        async with self._opening:
            if self._client is None:
                config = AioConfig(
                    connect_timeout=_CONNECT_SECONDS,
                    read_timeout=_LONGEST_WAIT_SECONDS + _ANSWER_SECONDS,
                    retries={"total_max_attempts": _ATTEMPTS, "mode": "standard"},
                )
                client: SQSClient = await self._resources.enter_async_context(
                    get_session().create_client(
                        "sqs", region_name=self._address.region, endpoint_url=self._address.endpoint, config=config
                    )
                )
                self._client = client
            return self._client


class _Address(NamedTuple):
    """Where SQS is. `endpoint`: None for Amazon's own."""

    region: str
    endpoint: str | None

    @classmethod
    def read(cls, url: str) -> _Address:
        """Return what a URL says. Raises InvalidInput for one that says anything else."""
        place(url)
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        endpoint = query.pop("endpoint", [None])[0]
        if parts.scheme != "sqs" or not _REGION.fullmatch(parts.netloc) or parts.path.strip("/") or query:
            raise InvalidInput(
                "url", "must be like sqs://eu-west-1, without credentials: they come from the environment or ~/.aws"
            )
        if endpoint is not None and place(endpoint) != endpoint.rstrip("/"):
            raise InvalidInput("url", "its endpoint must be like http://127.0.0.1:5000")
        return cls(parts.netloc, endpoint)

    def __str__(self) -> str:
        return f"Amazon SQS in {self.region}" if self.endpoint is None else f"SQS at {self.endpoint}"


def _escaped(name: str) -> str:
    """Return a name as SQS takes it, where two that differ stay different."""
    return name.replace("_", "__").replace(".", "_-")


def _not_outdated(failed: Sequence[BatchResultErrorEntryTypeDef]) -> list[BatchResultErrorEntryTypeDef]:
    """Return those failures that are not the sender's: a handle is outdated once its message was delivered again."""
    return [each for each in failed if not each["SenderFault"]]
