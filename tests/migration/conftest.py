import os
from collections.abc import Iterator

import pytest

from tests import postgres


@pytest.fixture
def empty_postgres() -> Iterator[str]:
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        yield url
