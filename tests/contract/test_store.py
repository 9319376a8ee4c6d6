"""Our two stores keep the contract that is shipped for others, on a file, in memory and on PostgreSQL."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from duebook.ports import Database, Store
from duebook.stores.postgres.database import PostgresDatabase
from duebook.stores.sqlite.database import SqliteDatabase
from duebook.stores.store import SqlStore
from duebook.testing.contracts.store import StoreContract
from tests.support.fixtures import emptied
from tests.support.shell import Shell


class TestSqlite(StoreContract):
    @pytest.fixture(autouse=True)
    def _migrated(self, migrated_file: Path) -> None:
        self.migrated = migrated_file

    @asynccontextmanager
    async def empty(self) -> AsyncIterator[tuple[Database, Store]]:
        with TemporaryDirectory() as folder:
            database = SqliteDatabase(str(shutil.copy(self.migrated, folder)))
            try:
                yield database, SqlStore()
            finally:
                await database.close()


class TestMemory(StoreContract):
    @asynccontextmanager
    async def empty(self) -> AsyncIterator[tuple[Database, Store]]:
        database = SqliteDatabase(":memory:")
        try:
            await database.migrate()
            yield database, SqlStore()
        finally:
            await database.close()


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, psql_session: tuple[str, Shell]) -> None:
        self.url, self.shell = psql_session

    @asynccontextmanager
    async def empty(self) -> AsyncIterator[tuple[Database, Store]]:
        emptied(self.shell)
        database = PostgresDatabase(self.url)
        try:
            yield database, SqlStore()
        finally:
            await database.close()
