"""A store with everything around it that a test wants to hold in its hand."""

from duebook.engine.registry import Registry
from duebook.stores.store import SqlStore
from duebook.testing.contracts.store.life import EPOCH, Life, email, intent_of, moved, retry
from tests.support.clock import Clock
from tests.support.faults import FaultyDatabase
from tests.support.shell import Dialect, Shell


class World(Life):
    """A life in one of our own databases, which can fail on command, and a person's shell beside it."""

    database: FaultyDatabase
    store: SqlStore
    clock: Clock

    def __init__(
        self, dialect: Dialect, database: FaultyDatabase, shell: Shell, clock: Clock, address: str = ""
    ) -> None:
        self.registry = Registry()
        super().__init__(database=database, store=SqlStore(), clock=clock, kinds=self.registry.kinds)
        self.dialect = dialect
        self.shell = shell
        self.address = address

    def tally(self) -> dict[str, int]:
        """How many there are in each state."""
        counted = self.shell.run("select state, count(*) from @notifications group by state")
        return {str(state): int(count) for state, count in counted}


__all__ = ["EPOCH", "World", "email", "intent_of", "moved", "retry"]
