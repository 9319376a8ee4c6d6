"""The database itself holds the lifecycle: what a person types at its shell is refused like anybody else's."""

import re
from collections.abc import Iterator

import pytest

from duebook.domain.lifecycle import CLOSED, EDGES, Event, State
from duebook.stores import catalog
from tests.support.shell import Dialect, Refused, Shell
from tests.support.worlds import World

AT = "'2030-01-07T12:00:00.000000Z'"
LEGAL = {(edge.state, edge.event, edge.next) for edge in EDGES}
HELD = (State.CLAIMED, State.SENDING)


def shape(state: State) -> str:
    """The columns a state goes with, so that only the lifecycle is left to object."""
    columns = {
        "wake_at": state is State.SCHEDULED,
        "lease_until": state in HELD,
        "attention_at": state == "uncertain",
        "review_at": state == "review",
        "closed_at": state in CLOSED,
    }
    instants = ", ".join(f"{name} = {AT if set_ else 'null'}" for name, set_ in columns.items())
    holder = "'h'" if state in HELD else "null"
    basis = "'ruled'" if state is State.ACCEPTED else "null"
    return f"{instants}, holder = {holder}, basis = {basis}, reason = 'why', message = '{{}}', begun_at = {AT}"


def update(id: int, event: str, following: State, version: str = "version + 1") -> str:
    changes = f"state = '{following}', event = '{event}', version = {version}, {shape(following)}"
    return f"update @notifications set {changes} where id = {id}"


def born(shell: Shell, id: int, state: str = "scheduled", event: str = "schedule", version: int = 1) -> None:
    shell.run(
        "insert into @notifications (id, kind, key, recipient, namespace, channel, priority, data, state, event,"
        " version, due_at, wake_at, age_from, created_at, moved_at)"
        f" values ({id}, 'mail', 'k{id}', 'ann', 'test', 'mail', 1, '{{}}', '{state}', '{event}', {version},"
        f" {AT}, {AT}, {AT}, {AT}, {AT})"
    )


def lead(shell: Shell, id: int, state: State) -> None:
    """Bring a new row to a state by the shortest legal way."""
    born(shell, id)
    for event, following in ways()[state]:
        shell.run(update(id, event, following))


def ways() -> dict[State, list[tuple[Event, State]]]:
    found: dict[State, list[tuple[Event, State]]] = {State.SCHEDULED: []}
    front = [State.SCHEDULED]
    while front:
        here = front.pop(0)
        for edge in EDGES:
            if edge.state is here and edge.next not in found:
                found[edge.next] = [*found[here], (edge.event, edge.next)]
                front.append(edge.next)
    return found


def moves_in_the_trigger(dialect: Dialect) -> Iterator[tuple[str, ...]]:
    for _, _, text in catalog.migrations(dialect):
        _, _, trigger = text.partition("lifecycle before update")
        for found in re.findall(r"'(\w+ \w+ \w+)'", trigger):
            yield tuple(found.split())


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_the_trigger_holds_exactly_the_moves_of_the_domain(dialect: Dialect) -> None:
    assert sorted(moves_in_the_trigger(dialect)) == sorted(LEGAL)


def test_every_state_can_be_reached() -> None:
    assert set(ways()) == set(State)


async def test_every_legal_move_can_be_made(world: World) -> None:
    for id, edge in enumerate(EDGES, 1):
        lead(world.shell, id, edge.state)
        world.shell.run(update(id, edge.event, edge.next))
        assert world.shell.value(f"select state from @notifications where id = {id}") == edge.next


async def test_every_other_combination_of_state_event_and_next_is_refused(world: World) -> None:
    accepted = []
    for id, state in enumerate(State, 1):
        lead(world.shell, id, state)
        for event in Event:
            for following in State:
                if (state, event, following) not in LEGAL:
                    why = world.shell.complaint(update(id, event, following))
                    if "duebook:" not in why:
                        accepted.append((state, event, following, why))
    assert accepted == []


ID = 1

FORGERIES = {
    "a bare change of state": "update @notifications set state = 'accepted'",
    "a state with its instants, without an event": update(ID, "claim", State.ACCEPTED),
    "the version left as it is": update(ID, "begin", State.SENDING, "version"),
    "the version skipped": update(ID, "begin", State.SENDING, "version + 2"),
    "the version turned back": update(ID, "begin", State.SENDING, "version - 1"),
    "the version alone": "update @notifications set version = version + 1",
    "the event alone": "update @notifications set event = 'begin'",
    "an event that does not exist": update(ID, "wish", State.SENDING),
    "another id": "update @notifications set id = id + 100",
    "another kind": "update @notifications set kind = 'chat'",
    "another key": "update @notifications set key = 'other'",
    "another key beside a legal move": update(ID, "begin", State.SENDING).replace(" where", ", key = 'other' where"),
}


@pytest.mark.parametrize("name", FORGERIES)
async def test_a_forged_update_is_refused(world: World, name: str) -> None:
    lead(world.shell, ID, State.CLAIMED)
    before = world.shell.run("select * from @notifications")
    assert "duebook:" in world.shell.complaint(FORGERIES[name])
    assert world.shell.run("select * from @notifications") == before


@pytest.mark.parametrize(
    ("state", "event", "version"),
    [("accepted", "schedule", 1), ("claimed", "claim", 1), ("scheduled", "repeat", 1), ("scheduled", "schedule", 2)],
)
async def test_a_notification_begins_as_scheduled(world: World, state: str, event: str, version: int) -> None:
    with pytest.raises(Refused, match="duebook: a notification begins as scheduled"):
        born(world.shell, 1, state, event, version)


async def test_a_row_is_not_born_again_over_one_that_exists(world: World) -> None:
    """`insert or replace` is SQLite's way around an update trigger; PostgreSQL has no such statement."""
    lead(world.shell, 1, State.ACCEPTED)
    columns = "kind, key, recipient, namespace, channel, priority, data, due_at, age_from, created_at, moved_at"
    again = f"(id, state, event, version, wake_at, {columns})"
    verb = "insert or replace" if world.dialect == "sqlite" else "insert"
    why = world.shell.complaint(
        f"{verb} into @notifications {again}"
        f" select id, 'scheduled', 'schedule', 1, {AT}, {columns} from @notifications where id = 1"
    )
    assert world.shell.value("select state from @notifications where id = 1") == "accepted", why


INSTANTS = ("wake_at", "lease_until", "attention_at", "review_at", "closed_at")


@pytest.mark.parametrize("state", State)
async def test_a_state_is_tied_to_its_instants_and_its_grounds(world: World, state: State) -> None:
    lead(world.shell, 1, state)
    set_ = {name: world.shell.value(f"select {name} is not null from @notifications") for name in INSTANTS}
    wrong = [f"{name} = {'null' if set_[name] else AT}" for name in INSTANTS]
    if state in HELD:
        wrong.append("holder = null")
    if state is State.SENDING:
        wrong += ["message = null", "begun_at = null"]
    if state is State.ACCEPTED:
        wrong.append("basis = null")
    else:
        wrong.append("basis = 'reported'")
    if state in (State.SKIPPED, State.CANCELLED, State.DROPPED, State.REVIEW):
        wrong.append("reason = null")
    if state in (State.SKIPPED, State.CANCELLED, State.REVIEW):
        wrong.append("number = 1, doubt = 1")
    wrong += ["doubt = number + 1", "doubt = -1", "state = null", "priority = 3", "pruned = 3"]
    taken = [change for change in wrong if not world.shell.complaint(f"update @notifications set {change}")]
    assert taken == []


async def test_what_is_no_transition_is_allowed(world: World) -> None:
    lead(world.shell, 1, State.CLAIMED)
    world.shell.run("update @notifications set lease_until = '2031-01-01T00:00:00.000000Z', recipient = 'someone else'")
    assert world.shell.value("select recipient from @notifications") == "someone else"
