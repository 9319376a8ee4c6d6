"""The queue that a URL names. Its adapter is imported here, and with it the client library that it needs."""

from __future__ import annotations

from urllib.parse import SplitResult, unquote, urlsplit

from ..errors import InvalidInput
from ..ports import Queue
from .address import place

_FORMS = """
redis://user:password@host:6379/0 or rediss://, amqp://user:password@host/ or amqps://, sqs://region,
nats://user:password@host:4222 or tls+nats://, sb://key-name:key@namespace.servicebus.windows.net,
queue+https://:token@host/path"""


def open_queue(url: str) -> Queue:
    """Return the queue that a URL names, with the adapter's own defaults; nothing is connected yet.

    Raises InvalidInput, without a password in it, for a URL that cannot be used, and MissingExtra without the client
    library.
    """
    try:
        return _opened(url)
    except InvalidInput as error:
        raise InvalidInput("queue", error.problem) from None


def _opened(url: str) -> Queue:
    place(url)  # raises for what cannot be split
    parts = urlsplit(url)
    match parts.scheme:
        case "redis" | "rediss":
            from .redis import RedisQueue

            return RedisQueue(url)
        case "amqp" | "amqps":
            from .rabbitmq import RabbitmqQueue

            return RabbitmqQueue(url)
        case "sqs":
            from .sqs import SqsQueue

            return SqsQueue(url)
        case "nats" | "tls+nats":
            from .nats import NatsQueue

            return NatsQueue(url if parts.scheme == "nats" else parts._replace(scheme="tls").geturl())
        case "sb" | "servicebus":
            from .servicebus import ServiceBusQueue

            return ServiceBusQueue(_connection_string(parts))
        case "queue+http" | "queue+https":
            from .http import HttpQueue

            return HttpQueue(_without_credentials(parts), token=_password(parts))
    known = " ".join(_FORMS.split())
    raise InvalidInput("url", f"names no broker that is known. It must look like {known}")


def _password(parts: SplitResult) -> str:
    if not parts.password:
        raise InvalidInput("url", "holds no token; it stands before the host: queue+https://:token@host/path")
    return unquote(parts.password)


def _without_credentials(parts: SplitResult) -> str:
    return parts._replace(scheme=parts.scheme.removeprefix("queue+"), netloc=parts.netloc.rpartition("@")[2]).geturl()


def _connection_string(parts: SplitResult) -> str:
    """Return a URL as Azure writes the same."""
    if not (parts.hostname and parts.username and parts.password):
        raise InvalidInput("url", "must look like sb://key-name:key@namespace.servicebus.windows.net")
    name, key = unquote(parts.username), unquote(parts.password)
    return f"Endpoint=sb://{parts.netloc.rpartition('@')[2]}/;SharedAccessKeyName={name};SharedAccessKey={key}"
