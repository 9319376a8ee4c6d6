"""Which book a command works on: the application's own, or one made for a database alone."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

from ..app.book import Duebook
from ..errors import DuebookError, InvalidInput, SchemaMismatch, StoreUnavailable
from ..stores import catalog
from ..stores.sqlite.database import SqliteDatabase

_NOT_THEIRS = (__file__, importlib.__file__)
_READ_URL = "percent-encode special characters such as '/', '?', '#' and '@' in its password"


@dataclass(frozen=True, slots=True)
class Where:
    """What the caller said about it. An option beats the environment, and the app beats the bare database."""

    database: str | None = None
    app: str | None = None

    @property
    def app_name(self) -> str | None:
        if self.app is not None or self.database is not None:
            return self.app
        return os.environ.get("DUEBOOK_APP") or None


def open_book(where: Where) -> Duebook:
    """Return the book; nothing is connected yet. Raises InvalidInput where there is none."""
    url = where.database or os.environ.get("DUEBOOK_URL")
    if url is not None:
        _check(url)
    if where.app_name is not None:
        return _app_book(where.app_name, where.database)
    if not url:
        raise InvalidInput("database", "no database given: --database URL, --app module:book, or set DUEBOOK_URL")
    return Duebook(url)


def _check(url: str) -> None:
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise InvalidInput("database", f"the URL cannot be read; {_READ_URL}") from None


def _app_book(name: str, database: str | None) -> Duebook:
    if database is not None:
        # Read by a Duebook() that was given no URL of its own.
        os.environ["DUEBOOK_URL"] = database
    book = load(name)
    if database is not None and book.url != database:
        raise InvalidInput("database", f"{name} names a database of its own; leave out --database, or --app")
    return book


def load(name: str) -> Duebook:
    """Import the book that "package.module:attribute" names, with the current directory on the path."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise InvalidInput("app", f"{name!r} must look like package.module:book")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    module: object = _import(module_name)
    for part in attribute.split("."):
        try:
            module = getattr(module, part)
        except AttributeError:
            raise InvalidInput("app", f"{module_name} has no {attribute!r}.{_near(module, part)}") from None
    if not isinstance(module, Duebook):
        raise InvalidInput("app", f"{name} is of type {type(module).__name__}, not a Duebook")
    return module


def _import(name: str) -> object:
    try:
        return importlib.import_module(name)
    except DuebookError:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise InvalidInput("app", f"there is no module {name!r} here or among the installed ones") from None
        raise InvalidInput("app", _says(name, error)) from error
    except Exception as error:
        raise InvalidInput("app", _says(name, error)) from error


def _says(name: str, error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith("<") and frame.filename not in _NOT_THEIRS]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"importing {name} failed: {type(error).__name__}: {error}{where}"


def _near(module: object, part: str) -> str:
    books = [name for name, value in vars(module).items() if isinstance(value, Duebook)]
    near = get_close_matches(part, books, n=1, cutoff=0.4) or books[:1]
    return f" Did you mean {near[0]!r}?" if near else ""


def check_file(book: Duebook) -> None:
    """Raise StoreUnavailable for an SQLite file that is not there: looking at a database must not make one."""
    database = book.wired.database
    if isinstance(database, SqliteDatabase) and database.path != ":memory:" and not Path(database.path).exists():
        raise StoreUnavailable(f"there is no file {database.path}. Check --database, or make it: duebook migrate")


async def check_schema(book: Duebook) -> int:
    """Return the schema version if it is this release's; otherwise raise SchemaMismatch with what to do."""
    database, store = book.wired.database, book.wired.store
    present, needed = await database.ask(store.read_schema()), catalog.newest(database.dialect)
    if present != needed:
        raise SchemaMismatch.between(present, needed)
    return present
