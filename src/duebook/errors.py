"""Every error duebook raises on purpose.

DuebookError
├── InvalidInput              a value that cannot be used; names the field and the fix (also a ValueError)
│   ├── UnknownName           a kind, channel or zone nobody registered; suggests the nearest one
│   └── InvalidMessage        a message that can never be sent as it is
├── AlreadyScheduled          the identity exists and the caller asked to be told (if_exists="raise")
├── IllegalMove               an event the lifecycle does not know in this state; a fault in duebook itself
├── Busy                      the database is locked or asked for a retry: repeat the whole transaction
├── StoreUnavailable          the database cannot be reached or went away
├── QueueUnavailable          the broker cannot be reached or does not answer; the store still has everything
├── SchemaMismatch            the database has no duebook tables, or those of another release
├── NotInTransaction          using() was given a connection in autocommit
├── UnverifiedReceipt         what claims to come from a provider could not be shown to; nothing of it was believed
├── UnsafeSetting             settings that contradict each other; said when the worker starts
└── MissingExtra              an optional dependency is not installed; names the pip command
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class DuebookError(Exception):
    """The common base."""


class InvalidInput(DuebookError, ValueError):
    """A value that cannot be used: `field` names it, the text says what to do instead."""

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field}: {problem}")


class UnknownName(InvalidInput):
    """A kind, channel or zone that nobody registered."""

    def __init__(self, field: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=1, cutoff=0.6)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        if not hint and names:
            shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
            hint = f" Known: {shown}."
        self.name = name
        super().__init__(field, f"unknown {field} {name!r}.{hint}")


class InvalidMessage(InvalidInput):
    """A message that can never be sent as it is; raised in a handler, it sends the notification to review."""


class AlreadyScheduled(DuebookError):
    """The identity exists already and the caller asked to be told."""

    def __init__(self, kind: str, key: str, state: str) -> None:
        self.kind, self.key, self.state = kind, key, state
        super().__init__(f"{kind}/{key} is already scheduled; its state is {state}")


class IllegalMove(DuebookError):
    """The lifecycle has no such event in this state."""

    def __init__(self, state: str, event: str) -> None:
        self.state, self.event = state, event
        super().__init__(f"the lifecycle has no event {event!r} in state {state!r}")


class Busy(DuebookError):
    """The database is locked or asked for a retry: roll back and repeat the whole transaction."""


class StoreUnavailable(DuebookError):
    """The database cannot be reached or went away; whether the last commit happened is unknown."""


class QueueUnavailable(DuebookError):
    """The broker cannot be reached or does not answer; what was being published may or may not have been taken."""


class SchemaMismatch(DuebookError):
    """The database has no duebook tables, or those of another release."""

    @classmethod
    def between(cls, present: int, needed: int) -> SchemaMismatch:
        """Say what to do about a schema that is not the one this release needs."""
        if present < needed:
            return cls(f"the database has schema {present}, duebook needs {needed}. Run: duebook migrate")
        return cls(f"the database has schema {present}, this release of duebook knows {needed}: use a newer one")


class NotInTransaction(DuebookError):
    """using() needs an open transaction, so that the notification and the caller's rows commit together."""


class UnverifiedReceipt(DuebookError):
    """A receipt that could not be shown to come from its provider, or that is too old; nothing of it was believed."""

    def __init__(self, provider: str, problem: str) -> None:
        self.provider, self.problem = provider, problem
        super().__init__(f"a receipt of {provider} was refused: {problem}")


class UnsafeSetting(DuebookError):
    """Settings that contradict each other and would break a promise."""


class MissingExtra(DuebookError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra package: pip install 'duebook[{extra}]'")
