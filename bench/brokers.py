"""The brokers that are measured, each run for itself on this machine. Two clouds and the HTTP service are played."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from duebook.portal import Portal
from duebook.ports import Queue
from duebook.queues.http import HttpQueue
from duebook.queues.opening import open_queue
from duebook.queues.servicebus import ServiceBusQueue
from tests.queues import nats_server, rabbitmq_server, redis_server, servicebus_double, sqs_server
from tests.queues.http_double import TOKEN, HttpQueueDouble

Connect = Callable[[], Queue]


class Missing(Exception):
    """What this machine lacks."""


@contextmanager
def _started(make: Callable[[Path], Any], program: object) -> Iterator[Connect]:
    if program is None or not Path(str(program)).exists():
        raise Missing("its server is not installed")
    with tempfile.TemporaryDirectory(prefix="duebook-bench-") as folder, ExitStack() as stack:
        server = make(Path(folder))
        stack.callback(server.stop)
        yield lambda: open_queue(server.url)


@contextmanager
def _http() -> Iterator[Connect]:
    """The double in an event loop of its own, as a service would have."""
    portal, double = Portal(), HttpQueueDouble()
    portal.call(double.__aenter__())
    try:
        yield lambda: HttpQueue(double.url, token=TOKEN)
    finally:
        portal.call(double.__aexit__(None, None, None))


@contextmanager
def _sqs() -> Iterator[Connect]:
    server = sqs_server.SqsServer()
    try:
        with patch.dict(os.environ, {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "none"}):
            yield lambda: open_queue(f"sqs://eu-west-1?endpoint={server.endpoint}")
    finally:
        server.stop()


@contextmanager
def _servicebus() -> Iterator[Connect]:
    with tempfile.TemporaryDirectory(prefix="duebook-bench-") as folder:
        try:
            with servicebus_double.running(Path(folder)) as double:
                yield lambda: ServiceBusQueue(double.connection_string, prefix="lock60")
        except servicebus_double.Unavailable as missing:
            raise Missing(str(missing)) from None


BROKERS: Mapping[str, Callable[[], AbstractContextManager[Connect]]] = {
    "redis": lambda: _started(redis_server.RedisServer, redis_server.PROGRAM),
    "rabbitmq": lambda: _started(rabbitmq_server.RabbitmqServer, rabbitmq_server.PROGRAM),
    "nats": lambda: _started(lambda folder: nats_server.NatsServer(folder, "--jetstream"), nats_server.BINARY),
    "http (a double)": _http,
    "sqs (a double)": _sqs,
    "servicebus (a double)": _servicebus,
}
