from datetime import timedelta
from typing import Any

import pytest

from duebook.domain.control import EVERYTHING, scope
from duebook.domain.deciding import key_protects
from duebook.domain.policy import ChannelPolicy, Kind, Priority, Retention, checked_name
from duebook.engine.settings import EngineSettings
from duebook.errors import DuebookError, InvalidInput, UnsafeSetting
from tests.domain.builders import DAY, NOW, SECOND, doubted

NAN = float("nan")
BAD_NAMES = ["", "a b", "a:b", "a/b", "ä", "a\n", "x" * 65, 7, None, b"mail"]

REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    *((Kind, {"name": name}, "kind") for name in BAD_NAMES),
    *((Kind, {"channel": name}, "channel") for name in BAD_NAMES),
    (Kind, {"on_uncertain": "repeat"}, "on_uncertain"),
    (Kind, {"keep_copy": "all"}, "keep_copy"),
    (Kind, {"patience": timedelta(0)}, "patience"),
    (Kind, {"patience": -SECOND}, "patience"),
    (Kind, {"max_lateness": timedelta(0)}, "max_lateness"),
    (Kind, {"max_lateness": -SECOND}, "max_lateness"),
    (Kind, {"handler_seconds": 0}, "handler_seconds"),
    (Kind, {"handler_seconds": -1}, "handler_seconds"),
    (Kind, {"handler_seconds": 3601}, "handler_seconds"),
    (Kind, {"handler_seconds": NAN}, "handler_seconds"),
    *((ChannelPolicy, {"name": name}, "channel") for name in BAD_NAMES),
    (ChannelPolicy, {"key_window": timedelta(0)}, "key_window"),
    (ChannelPolicy, {"key_window": -DAY}, "key_window"),
    (ChannelPolicy, {"concurrency": 0}, "concurrency"),
    (ChannelPolicy, {"concurrency": 10_001}, "concurrency"),
    (ChannelPolicy, {"rate": 0}, "rate"),
    (ChannelPolicy, {"rate": -1}, "rate"),
    (ChannelPolicy, {"rate": 1_000_001}, "rate"),
    (ChannelPolicy, {"rate": NAN}, "rate"),
    (ChannelPolicy, {"send_seconds": 0}, "send_seconds"),
    (ChannelPolicy, {"send_seconds": 901}, "send_seconds"),
    (ChannelPolicy, {"send_seconds": NAN}, "send_seconds"),
    (ChannelPolicy, {"pause": timedelta(0)}, "pause"),
    (ChannelPolicy, {"pause": -SECOND}, "pause"),
    (Retention, {"bodies": -DAY}, "retention.bodies"),
    (Retention, {"ledger": -DAY, "bodies": -2 * DAY}, "retention.bodies"),
    (Retention, {"bodies": 200 * DAY}, "retention"),
    (Retention, {"ledger": 400 * DAY}, "retention"),
    (Retention, {"memory": 10 * DAY}, "retention.memory"),
]

ALLOWED: list[tuple[Any, dict[str, Any]]] = [
    (Kind, {"name": "a.b-C_9", "channel": "x" * 64}),
    (Kind, {"handler_seconds": 3600}),
    (Kind, {"handler_seconds": 0.001}),
    (Kind, {"max_lateness": SECOND, "patience": SECOND}),
    (ChannelPolicy, {"concurrency": 1, "rate": 0.001, "send_seconds": 900}),
    (ChannelPolicy, {"concurrency": 10_000, "rate": 1_000_000, "send_seconds": 0.1}),
    (Retention, {"bodies": timedelta(0), "ledger": timedelta(0), "rows": timedelta(0), "memory": timedelta(0)}),
    (Retention, {"bodies": DAY, "ledger": DAY, "rows": DAY, "memory": 3650 * DAY}),
]


def made(what: Any, values: dict[str, Any]) -> Any:
    defaults: dict[str, Any] = {"name": "mail"} if what is ChannelPolicy else {}
    if what is Kind:
        defaults = {"name": "mail", "channel": "mail"}
    return what(**{**defaults, **values})


@pytest.mark.parametrize(("what", "values", "field"), REFUSED)
def test_a_policy_that_makes_no_sense_is_refused_by_field(what: Any, values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        made(what, values)
    assert refused.value.field == field
    assert refused.value.problem


@pytest.mark.parametrize(("what", "values"), ALLOWED)
def test_the_bounds_themselves_are_allowed(what: Any, values: dict[str, Any]) -> None:
    policy = made(what, values)
    assert {name: getattr(policy, name) for name in values} == values


@pytest.mark.parametrize(("name", "priority"), [("urgent", 0), ("normal", 1), ("bulk", 2), ("URGENT", 0)])
def test_a_priority_is_named(name: str, priority: int) -> None:
    assert Priority.named(name) == priority


@pytest.mark.parametrize("name", ["high", "", "0"])
def test_a_priority_nobody_knows_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="not one of urgent, normal, bulk"):
        Priority.named(name)


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_could_be_mistaken_is_refused(name: Any) -> None:
    with pytest.raises(InvalidInput):
        checked_name("namespace", name)


@pytest.mark.parametrize(
    ("given", "name"),
    [({}, EVERYTHING), ({"channel": "mail"}, "channel:mail"), ({"kind": "renewal"}, "kind:renewal")],
)
def test_a_scope_is_a_channel_a_kind_or_everything(given: dict, name: str) -> None:
    assert scope(**given) == name


@pytest.mark.parametrize("given", [{"channel": "a", "kind": "b"}, {"channel": "a:b"}, {"kind": ""}])
def test_a_scope_that_means_nothing_is_refused(given: dict) -> None:
    with pytest.raises(DuebookError):
        scope(**given)


@pytest.mark.parametrize(
    "values",
    [
        {"lease_seconds": 2.9}, {"grace_seconds": 0.5}, {"batch": 0}, {"batch": 10_001}, {"poll_seconds": 6},
        {"poll_seconds": 0}, {"poll_seconds": -1}, {"poll_seconds": NAN}, {"sweep_seconds": 0}, {"sweep_seconds": -1},
        {"lease_seconds": NAN},
    ],
    ids=str,
)  # fmt: skip
def test_settings_that_break_a_promise_are_refused(values: dict) -> None:
    with pytest.raises(UnsafeSetting):
        EngineSettings(**values)


@pytest.mark.parametrize("span", [timedelta.max, timedelta(days=365 * 20_000)])
def test_a_length_of_time_that_means_for_ever_is_refused_or_usable(span: timedelta) -> None:
    try:
        policy = ChannelPolicy("mail", key_window=span)
    except InvalidInput:
        return
    assert key_protects(doubted(), policy, NOW)
