"""Fixtures for pytest: `timeline`, `sync_timeline`, and what a project overrides to have its own book on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from duebook import Duebook

    from .timeline import SyncTimeline, Timeline

# So that a clause that fails shows the values it compared, as a project's own tests do.
pytest.register_assert_rewrite("duebook.testing.contracts.queue", "duebook.testing.contracts.store")


@pytest.fixture
def duebook_book() -> Duebook | None:
    """The book on the timeline; override it to answer your own. By default one without kinds and channels."""
    return None


@pytest.fixture
def duebook_url() -> str | None:
    """A database for tests alone; override it to use your own. By default SQLite in memory."""
    return None


@pytest.fixture
def timeline(duebook_book: Duebook | None, duebook_url: str | None) -> Iterator[Timeline]:
    """A book whose time passes when the test says so."""
    from .timeline import Timeline

    with Timeline(duebook_book, duebook_url) as timeline:
        yield timeline


@pytest.fixture
def sync_timeline(duebook_book: Duebook | None, duebook_url: str | None) -> Iterator[SyncTimeline]:
    """The same for tests without an event loop."""
    from .timeline import SyncTimeline

    with SyncTimeline(duebook_book, duebook_url) as timeline:
        yield timeline
