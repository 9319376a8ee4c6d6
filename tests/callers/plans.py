"""Small plans, as the store would yield them, and the running of them on a bare connection."""

import json
from collections.abc import Sequence
from typing import Any

from duebook.ports import Plan, Rows, Statement
from duebook.stores.callers import AsyncCaller, SyncCaller, caller

KIND = "renewal"
DATA = {"said": "100% sure: '%s' of %(this)s \\ ☂", "nested": [None, 1.5, {"deep": True}]}


def schedule(*keys: str) -> Plan[list[str]]:
    """Promise a notification for each key; answers the keys of those created."""
    at = "2027-01-14T14:00:00.000000Z"
    common: dict[str, Any] = {
        "kind": KIND, "recipient": "ann", "namespace": "test", "channel": "email", "priority": 1, "group_key": "all",
        "data": DATA, "due_at": at, "wake_at": at, "created_at": "2026-11-30T10:00:00.000000Z",
    }  # fmt: skip
    rows = yield Statement("schedule", {"rows": json.dumps([{**common, "key": key} for key in keys])})
    return [row[2] for row in rows]


def read_identities(*keys: str) -> Plan[Rows]:
    names = json.dumps([{"kind": KIND, "key": key} for key in keys])
    return (yield Statement("read_identities", {"rows": names}))


def ask(verb: str, **parameters: str | int | None) -> Plan[Sequence[Any]]:
    return (yield Statement(verb, parameters))


def run(connection: object, plan: Plan[Any]) -> Any:
    here = caller(connection)
    assert isinstance(here, SyncCaller)
    return here.run(plan)


async def run_async(connection: object, plan: Plan[Any]) -> Any:
    here = caller(connection)
    assert isinstance(here, AsyncCaller)
    return await here.run(plan)
