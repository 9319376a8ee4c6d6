import os
from collections.abc import Iterator

import pytest

from duebook.testing.contracts.queue.carrying import MANY_VARIABLE
from tests.queues.redis_server import PROGRAM, RedisServer

# Two clouds, played by slow doubles: `make queues` tries them, and so does .ci/run.
collect_ignore = [] if MANY_VARIABLE in os.environ else ["test_servicebus.py", "test_sqs.py"]


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if PROGRAM is None:
        pytest.skip("no redis-server on this machine; Debian's package is redis-server")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    try:
        yield server
    finally:
        server.stop()
