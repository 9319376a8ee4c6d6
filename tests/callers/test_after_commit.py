"""What waits for the commit: called once after it, never without it."""

from collections.abc import Iterator
from functools import partial

import pytest
import sqlalchemy
from django.db import transaction as django_transaction
from sqlalchemy.orm import Session

from duebook.stores.callers import caller
from tests.callers import plans
from tests.callers.conftest import Database
from tests.callers.kinds import KINDS, Kind, django_database, sqlalchemy_url

hooked = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.has_hook], ids=str, indirect=True)
hookless = pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.has_hook], ids=str, indirect=True)


class Calls(list[bool]):
    """Counts calls, and notes whether others saw the notification already."""

    def __init__(self, database: Database, key: str) -> None:
        self.database, self.key = database, key

    def __call__(self) -> None:
        self.append(self.database.has(self.key))


@pytest.fixture
def calls(database: Database, key: str) -> Calls:
    return Calls(database, key)


@hooked
def test_called_once_after_the_commit(kind: Kind, database: Database, key: str, calls: Calls) -> None:
    with kind.open(database.url) as transaction:
        transaction.run(plans.schedule(key))
        assert transaction.caller.after_commit(calls)
        assert calls == []
        transaction.commit()
        assert calls == [True]
    assert calls == [True]


@hooked
def test_never_called_after_a_rollback(kind: Kind, database: Database, key: str, calls: Calls) -> None:
    with kind.open(database.url) as transaction:
        transaction.run(plans.schedule(key))
        assert transaction.caller.after_commit(calls)
        transaction.rollback()
    assert calls == []


@hookless
def test_says_so_where_no_hook_exists(kind: Kind, database: Database, key: str, calls: Calls) -> None:
    with kind.open(database.url) as transaction:
        transaction.run(plans.schedule(key))
        assert not transaction.caller.after_commit(calls)
        transaction.commit()
    assert calls == []


@pytest.fixture(params=["sqlite+pysqlite", "postgresql+psycopg"])
def session(request: pytest.FixtureRequest, sqlite_path: str, postgres_here: str) -> Iterator[Session]:
    url = sqlite_path if request.param.startswith("sqlite") else postgres_here
    engine = sqlalchemy.create_engine(sqlalchemy_url(url, request.param))
    with Session(engine) as opened:
        yield opened
    engine.dispose()


class TestSession:
    def test_a_later_transaction_does_not_call_what_was_rolled_back(self, session: Session) -> None:
        called: list[str] = []
        for end in (session.rollback, session.close):
            session.connection()
            assert caller(session).after_commit(lambda: called.append("no"))
            end()
            session.connection()
            session.commit()
        assert called == []

    def test_a_later_transaction_does_not_call_again(self, session: Session) -> None:
        called: list[str] = []
        for name in ("first", "second"):
            session.connection()
            assert caller(session).after_commit(partial(called.append, name))
            session.commit()
        session.connection()
        session.commit()
        assert called == ["first", "second"]

    def test_the_end_of_a_savepoint_is_no_commit(self, session: Session) -> None:
        called: list[str] = []
        with session.begin_nested():
            assert caller(session).after_commit(lambda: called.append("inner"))
        assert called == []
        session.commit()
        assert called == ["inner"]

    def test_a_savepoint_takes_with_it_what_waits_inside(self, session: Session) -> None:
        called: list[str] = []
        session.connection()
        assert caller(session).after_commit(lambda: called.append("outer"))
        outer = session.begin_nested()
        with session.begin_nested():
            assert caller(session).after_commit(lambda: called.append("inner"))
        outer.rollback()
        session.commit()
        assert called == ["outer"]

    def test_without_a_transaction_there_is_nothing_to_wait_for(self, session: Session) -> None:
        assert not caller(session).after_commit(lambda: None)


@pytest.mark.usefixtures("django_is_ready")
class TestDjango:
    def test_a_savepoint_takes_with_it_what_waits_inside(self, sqlite_path: str) -> None:
        called: list[str] = []
        with django_database(sqlite_path) as alias:
            with django_transaction.atomic(using=alias):
                assert caller(alias).after_commit(lambda: called.append("outer"))
                with django_transaction.atomic(using=alias):
                    assert caller(alias).after_commit(lambda: called.append("inner"))
                    django_transaction.set_rollback(True, using=alias)
                assert called == []
            assert called == ["outer"]

    def test_transactions_managed_by_hand_have_no_hook(self, sqlite_path: str, key: str) -> None:
        with django_database(sqlite_path) as alias:
            django_transaction.set_autocommit(False, using=alias)
            assert not caller(alias).after_commit(lambda: None)
            django_transaction.rollback(using=alias)
