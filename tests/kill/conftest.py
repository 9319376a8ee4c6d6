import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres

# The long form, which `make kill` runs, takes minutes.
collect_ignore = [] if "DUEBOOK_KILLS" in os.environ else ["test_storm.py", "test_recovery.py"]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/kill.db"


@pytest.fixture
def fresh_postgres_url() -> Iterator[str]:
    """A database that no other test has written to."""
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        yield url


@pytest.fixture
def server() -> Iterator[postgres.OwnServer]:
    """A PostgreSQL that may be restarted."""
    started = postgres.embedded()
    yield started
    started.stop()


@pytest.fixture
def restartable_url(server: postgres.OwnServer) -> Iterator[str]:
    with postgres.fresh_database(server.url) as url:
        yield url


@pytest.fixture(params=["sqlite_url", "fresh_postgres_url"], ids=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))
