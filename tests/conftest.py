import os
from collections.abc import Generator, Iterator
from typing import TypeVar

import psycopg
import pytest

from duebook.testing.contracts.queue.carrying import MANY_VARIABLE
from tests import postgres

SERVER = pytest.StashKey[postgres.Server]()
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Find or start PostgreSQL once, before xdist starts its workers: they inherit the URL."""
    config = session.config
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    try:
        server = config.stash[SERVER] = postgres.provide()
        said = str(server)
    except psycopg.OperationalError as error:
        raise pytest.UsageError(f"no PostgreSQL for the tests, see tests/postgres.py: {error}") from error
    os.environ[postgres.VARIABLE] = server.url
    if reporter := config.pluginmanager.get_plugin("terminalreporter"):
        reporter.write_line(said)
        if MANY_VARIABLE not in os.environ:
            reporter.write_line("SQS and Service Bus are left out, as their doubles are slow: `make queues` tries them")


def pytest_unconfigure(config: pytest.Config) -> None:
    if server := config.stash.get(SERVER, None):
        server.stop()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """An empty PostgreSQL database that this worker process has to itself."""
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        yield url


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _no_skips_in_ci((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _no_skips_in_ci((yield))


def _no_skips_in_ci(report: Report) -> Report:
    """A test that CI skips has checked nothing, and nobody would notice."""
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"CI skips no test, and this one was. {why}"
    return report
