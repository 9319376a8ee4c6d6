"""How RabbitMQ is made to delay: a ladder of queues in which a message stays for 1, 2, 4, 8 … seconds.

RabbitMQ looks at a message's time to live only at the head of its queue, so in one queue a short delay would wait
behind a long one. Here all messages of a queue stay equally long, and a delay is the sum of those it passes: its binary
digits, the longest first. The routing key names them, and behind them the queue that gets the message at last. The
design is that of NServiceBus (https://docs.particular.net/transports/rabbitmq/delayed-delivery).

A rung hands a message on only when the next queue has confirmed it (`at-least-once`,
https://www.rabbitmq.com/docs/quorum-queues#dead-lettering), so a broker that dies on the way loses none.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aio_pika.abc import AbstractChannel, AbstractQueue

RUNGS = 17
LONGEST = timedelta(seconds=2**RUNGS - 1)
"""About 36 hours: each rung more would cost the broker another replicated queue."""

_SET_ASIDE_MESSAGES = 1_000


def routing_key(seconds: int, name: str) -> str:
    """Return `0.0. … .1.0.1.name` for a delay of 5 seconds."""
    return ".".join([*format(seconds, f"0{RUNGS}b"), name])


def entrance(prefix: str, seconds: int) -> str:
    """Return the exchange at which a message begins: that of the longest rung it needs, or the one behind them all."""
    return _rung(prefix, seconds.bit_length() - 1) if seconds else due(prefix)


def due(prefix: str) -> str:
    """Return the exchange that hands each message to the queue of its name."""
    return f"{prefix}.due"


def aside(prefix: str) -> str:
    """Return the exchange, and the queue, of what is none of ours or belongs to a queue that is gone."""
    return f"{prefix}.aside"


async def declare_all(channel: AbstractChannel, prefix: str) -> None:
    """Declare what the queues of all names share. What is there already stays as it is."""
    await declare_aside(channel, prefix)
    await channel.declare_exchange(due(prefix), "topic", durable=True, arguments={"alternate-exchange": aside(prefix)})
    below = due(prefix)
    for rung in range(RUNGS):
        await _declare_rung(channel, _rung(prefix, rung), below, rung)
        below = _rung(prefix, rung)


async def declare_aside(channel: AbstractChannel, prefix: str) -> AbstractQueue:
    exchange = await channel.declare_exchange(aside(prefix), "fanout", durable=True)
    queue = await _declare(channel, aside(prefix), {"x-max-length": _SET_ASIDE_MESSAGES})
    await queue.bind(exchange)
    return queue


async def declare_queue(channel: AbstractChannel, prefix: str, name: str) -> AbstractQueue:
    """Declare the queue of a name, behind the ladder."""
    queue = await _declare(channel, f"{prefix}.queue.{name}", {"x-dead-letter-exchange": aside(prefix)})
    await queue.bind(due(prefix), "*." * RUNGS + name)
    return queue


async def _declare_rung(channel: AbstractChannel, name: str, below: str, rung: int) -> None:
    longer_rungs = "*." * (RUNGS - 1 - rung)
    exchange = await channel.declare_exchange(name, "topic", durable=True)
    arguments = {
        "x-message-ttl": 1000 * 2**rung,
        "x-dead-letter-exchange": below,
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }
    queue = await _declare(channel, name, arguments)
    await queue.bind(exchange, f"{longer_rungs}1.#")
    passed_by = await channel.get_exchange(below, ensure=False)
    await passed_by.bind(exchange, f"{longer_rungs}0.#")


def _rung(prefix: str, rung: int) -> str:
    return f"{prefix}.delay.{2**rung}"


async def _declare(channel: AbstractChannel, name: str, arguments: dict[str, Any]) -> AbstractQueue:
    return await channel.declare_queue(name, durable=True, arguments={"x-queue-type": "quorum", **arguments})
