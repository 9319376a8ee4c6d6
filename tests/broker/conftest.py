import pytest

from tests.support.brokered import Brokered
from tests.support.engine import Crew
from tests.support.fixtures import clock, crew, migrated_file, psql_session, world
from tests.support.queue import ClockQueue

__all__ = ["clock", "crew", "migrated_file", "psql_session", "world"]


@pytest.fixture
def queue(crew: Crew) -> ClockQueue:
    return ClockQueue(crew.world.clock)


@pytest.fixture
def brokered(crew: Crew, queue: ClockQueue) -> Brokered:
    crew.channel()
    crew.kind()
    return Brokered(crew, queue)
