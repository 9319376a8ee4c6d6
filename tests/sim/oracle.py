"""What must hold, one named function each. They compare the ledger with what the provider took and people did."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from duebook.domain.lifecycle import EDGES
from tests.sim.crowd import SETTINGS
from tests.sim.ports import START
from tests.sim.world import ATTEMPTS, World

A_DAY = 86_400.0


class Violation(Exception):
    """An oracle's complaint; begins with the oracle's name."""


def complain(oracle: Callable[..., None], text: str) -> None:
    raise Violation(f"{oracle.__name__}: {text}")


def rows(world: World, columns: str, tail: str = "") -> list[Any]:
    return world.connection.execute(f"select {columns} from duebook_notifications {tail}").fetchall()


def takes(world: World, key: str) -> list[tuple[int, str]]:
    return [one for name, taken in world.provider.taken.items() if name.endswith(f":{key}") for one in taken]


def sent(world: World, key: str) -> list[tuple[int, str]]:
    return [one for name, bodies in world.provider.bodies.items() if name.endswith(f":{key}") for one in bodies]


def keys(world: World) -> list[str]:
    return [f"n{number}" for number in range(world.config.count)]


def one_idempotency_key(world: World) -> None:
    for key in {name.rpartition(":")[2] for name in world.provider.bodies}:
        names = [name for name in world.provider.bodies if name.endswith(f":{key}")]
        if len(names) > 1:
            complain(one_idempotency_key, f"{key} went out under {names}")


def taken_once_when_keyed(world: World) -> None:
    if world.config.keyed:
        for key in keys(world):
            # A person may rule to send again after the window is over; within it the key still protects.
            allowed = 1 if world.config.window == A_DAY else 1 + world.known.ruled_resend[key]
            if len(takes(world, key)) > allowed:
                complain(taken_once_when_keyed, f"{key} was taken {len(takes(world, key))} times")


def never_again_unless_ruled(world: World) -> None:
    if not world.config.keyed:
        for key in keys(world):
            allowed = 1 + world.known.ruled_resend[key]
            if len(takes(world, key)) > allowed:
                complain(never_again_unless_ruled, f"{key} was taken {len(takes(world, key))} times, {allowed} allowed")


def accepted_means_taken(world: World) -> None:
    for key, basis in rows(world, "key, basis", "where state = 'accepted'"):
        if basis in ("reported", "evidence") and not takes(world, key):
            complain(accepted_means_taken, f"{key} is recorded as accepted ({basis}) and was never taken")


def unsent_means_not_taken(world: World) -> None:
    for key, state in rows(world, "key, state", "where state in ('skipped', 'cancelled', 'review')"):
        if takes(world, key):
            complain(unsent_means_not_taken, f"{key} is {state} and was taken")


def doubt_is_counted(world: World) -> None:
    query = """
        select n.key, n.doubt, count(a.number) from duebook_notifications n
        left join duebook_attempts a on a.notification_id = n.id
            and a.outcome in ('uncertain', 'lost') and a.resolution is null
        group by n.id having n.doubt <> count(a.number)"""
    for key, doubt, counted in () if world.config.prunes else world.connection.execute(query).fetchall():
        complain(doubt_is_counted, f"{key} says {doubt} attempts are in doubt, the ledger says {counted}")


def the_ledger_is_gapless(world: World) -> None:
    for id, key, state, number in rows(world, "id, key, state, number"):
        query = "select number from duebook_attempts where notification_id = ? order by number"
        found = [row[0] for row in world.connection.execute(query, (id,))]
        expected = list(range(1, number + (state != "sending")))
        if found != expected and not (world.config.prunes and not found):
            complain(the_ledger_is_gapless, f"{key}, {state}, has attempts {found} and not {expected}")


def history_is_lawful(world: World) -> None:
    """Each recorded move is one of the lifecycle's, and no version of a notification is recorded twice."""
    legal = {(edge.state, edge.event, edge.next) for edge in EDGES}
    seen: set[tuple[int, int]] = set()
    query = "select notification_id, version, state, event, next from duebook_history"
    for id, version, state, event, following in world.connection.execute(query).fetchall():
        if (state, event, following) not in legal:
            complain(history_is_lawful, f"{state} {event} {following}")
        if (id, version) in seen:
            complain(history_is_lawful, f"version {version} of notification {id} is recorded twice")
        seen.add((id, version))


def an_outcome_is_its_senders(world: World) -> None:
    """An attempt is accepted in the ledger only if that very attempt was made and answered so by the provider."""
    query = """
        select n.key, a.number, a.outcome, a.provider_id from duebook_attempts a
        join duebook_notifications n on n.id = a.notification_id where a.outcome = 'accepted'"""
    for key, number, _, provider_id in world.connection.execute(query).fetchall():
        if number not in dict(sent(world, key)) or not provider_id.startswith(f"p-{key}-"):
            complain(an_outcome_is_its_senders, f"{key} attempt {number} is recorded as accepted and was never made")


def a_repeat_is_the_same_bytes(world: World) -> None:
    query = """
        select n.key, a.number from duebook_attempts a join duebook_notifications n on n.id = a.notification_id
        where a.outcome in ('uncertain', 'lost') and a.resolution is null"""
    for key, number in world.connection.execute(query).fetchall():
        bodies = dict(sent(world, key))
        later = [one for one in bodies if one > number]
        if number in bodies and any(bodies[one] != bodies[number] for one in later):
            complain(a_repeat_is_the_same_bytes, f"{key}: attempt {number} is in doubt and other bytes followed")


def cancelled_stays_unsent(world: World) -> None:
    for key, before in world.known.cancelled_at.items():
        if len(takes(world, key)) > before:
            complain(cancelled_stays_unsent, f"{key} was taken after its owner was told that it is cancelled")


def withdrawn_is_not_begun_again(world: World) -> None:
    for key, number in world.known.withdrawn_at.items():
        bodies = world.provider.bodies.get(f"sim:reminder:{key}", [])
        if any(one > number for one, _ in bodies):
            complain(withdrawn_is_not_begun_again, f"{key} went out again after its owner had withdrawn it")


def nobody_is_robbed(world: World) -> None:
    """A lease is taken back only when it and its grace are over, by the world's own time."""
    leases = world.known.leases
    query = """
        select notification_id, version from duebook_history where event = 'lose'
        union all
        select a.notification_id, n.version from duebook_attempts a
        join duebook_notifications n on n.id = a.notification_id and n.number = a.number and n.event = 'lose'
            and n.state = 'uncertain'
        where a.outcome = 'lost'"""
    now = START + timedelta(seconds=world.kernel.elapsed)
    for id, version in world.connection.execute(query).fetchall():
        until = leases.pop((id, version - 1), None)
        if until is not None and now < datetime.fromisoformat(until) + timedelta(seconds=SETTINGS.grace_seconds):
            complain(nobody_is_robbed, f"{id} was taken before {now.isoformat()} from a lease until {until}")
    for id, version, until in rows(world, "id, version, lease_until", "where lease_until is not null"):
        leases[id, version] = until


def an_identity_is_for_ever(world: World) -> None:
    """Every identity is remembered; its notification may be gone only once it was closed."""
    query = """
        select i.key, i.state, n.key from duebook_identities i
        left join duebook_notifications n on n.id = i.notification_id"""
    found = world.connection.execute(query).fetchall()
    if len(found) != world.config.count:
        complain(an_identity_is_for_ever, f"{len(found)} of {world.config.count} are remembered")
    for key, remembered, present in found:
        if present is None and remembered is None:
            complain(an_identity_is_for_ever, f"the notification of {key} is gone and nothing is remembered of it")


ALWAYS = (
    one_idempotency_key, taken_once_when_keyed, never_again_unless_ruled, accepted_means_taken, unsent_means_not_taken,
    doubt_is_counted, the_ledger_is_gapless, history_is_lawful, an_outcome_is_its_senders, a_repeat_is_the_same_bytes,
    cancelled_stays_unsent, withdrawn_is_not_begun_again, nobody_is_robbed, an_identity_is_for_ever,
)  # fmt: skip


def everything_rests(world: World) -> None:
    """After the faults stop, everything is closed or waits where a person sees it."""
    for key, state in rows(world, "key, state", "where state in ('scheduled', 'claimed', 'sending')"):
        complain(everything_rests, f"{key} is still {state}")


def keyed_ones_resolve_themselves(world: World) -> None:
    """Where the key protects a repeat and attempts are left, nothing stays uncertain."""
    if world.config.window == A_DAY and world.config.on_uncertain == "resend":
        tail = f"where state = 'uncertain' and wanted is null and cancel_request is null and budget_used < {ATTEMPTS}"
        for (key,) in rows(world, "key", tail):
            complain(keyed_ones_resolve_themselves, f"{key} is still uncertain")


def what_was_received_is_known(world: World) -> None:
    """A message its provider spoke of later is not in doubt any more, and is never recorded as unsent."""
    for key, state, wanted in rows(world, "key, state, wanted", "where state in ('uncertain', 'review', 'skipped')"):
        if key in world.known.received:
            complain(what_was_received_is_known, f"its provider delivered {key}, which is {state} (wanted: {wanted})")


def what_was_asked_is_known(world: World) -> None:
    """What a provider took is not in doubt where it can be asked, unless it was asked before; nor is what it did not
    take, where no worker can still send it and its not knowing is proof."""
    query = """
        select n.key, min(a.outcome), group_concat(a.number) from duebook_notifications n
        join duebook_attempts a on a.notification_id = n.id
        where n.state = 'uncertain' and a.outcome in ('uncertain', 'lost') and a.resolution is null
            and not exists (
                select 1 from duebook_evidence e
                where e.notification_id = a.notification_id and e.number = a.number and e.source = 'lookup')
        group by n.id"""
    for key, outcome, numbers in () if world.config.asks == "never" else world.connection.execute(query).fetchall():
        if {number for number, _ in takes(world, key)} & {int(number) for number in numbers.split(",")}:
            complain(what_was_asked_is_known, f"{key} is uncertain, and its provider took it")
        if world.config.asks == "proof" and outcome == "uncertain":
            complain(what_was_asked_is_known, f"{key} is uncertain, and its provider never saw it")


AT_REST = (
    *ALWAYS, everything_rests, keyed_ones_resolve_themselves, what_was_received_is_known, what_was_asked_is_known,
)  # fmt: skip
