"""The statements whose plans are pinned, each as the store would ask it, and the indexes it must go through."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from duebook.domain import unread
from duebook.domain.digests import Cursor, closing, come
from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Covering, Intent, Notification
from duebook.domain.policy import DigestPolicy, Kind
from duebook.domain.recovery import Evidence
from duebook.domain.unread import About, ReadUpTo
from duebook.ports import Plan, Statement
from duebook.stores.store import SqlStore
from tests.domain.builders import intent, make
from tests.support.clock import START, Clock
from tests.support.faults import FaultyDatabase
from tests.support.shell import Shell
from tests.support.worlds import EPOCH, World, moved

STORE = SqlStore()
BIG = (
    "notifications", "identities", "attempts", "evidence", "schedules", "deadlines", "missed", "conversations",
    "messages", "watermarks", "covers", "digest_items", "digest_cursors", "digests", "people",
    "opt_outs", "receipts", "suppressions",
)  # fmt: skip
HOUR = timedelta(hours=1)
IDS = [5, 6, 7]
FLOOR = START - timedelta(seconds=10)
UNTIL = START + timedelta(seconds=15)


class Pinned(NamedTuple):
    plan: Any
    indexes: Sequence[str]
    buffers: int = 60

    @property
    def statement(self) -> Statement:
        plan: Plan[Any] = self.plan()
        return next(plan)


class _At(NamedTuple):
    id: int
    version: int
    state: Any
    doubt: int = 0


def claim(channel: str = "mail", floor: datetime = FLOOR) -> Plan[list[Notification]]:
    return STORE.claim(channel, ["mail", "chat"], (20, 20, 20), 1, floor, START, UNTIL, "w")


def begin() -> Plan[set[int]]:
    intents = [
        Intent(None, id, 3, 2, START, "{}", START, START, "w", 0)  # type: ignore[arg-type]
        for id in IDS
    ]
    return STORE.begin("mail", intents, START)


def apply() -> Plan[Any]:
    moves = [moved(_At(id, 1, "scheduled"), Event.RESCHEDULE, START, wake_at=START, reason="why") for id in IDS]
    return STORE.apply(moves)


def accept() -> Plan[Any]:
    return STORE.apply([moved(_At(id, 1, "sending"), Event.ACCEPT, START, basis="reported") for id in IDS])


def schedule() -> Plan[Any]:
    world = World("sqlite", FaultyDatabase(None, Clock()), Shell("sqlite", None), Clock())
    return STORE.schedule([world.draft("k5"), world.draft("k6")])


def prune() -> Plan[Any]:
    return STORE.prune(Kind("mail", "mail"), START, 500)


def reach(plan: Plan[Any], verb: str) -> Plan[Any]:
    """What follows in a plan from a verb on, as if nothing had been found before."""
    statement = next(plan)
    while statement.verb != verb:
        statement = plan.send([])
    yield statement


def speak() -> Plan[set[int]]:
    claimed = [make(State.CLAIMED, id=100_000 + id, kind="mail", recipient="ann") for id in IDS]
    covers = [Covering(f"c{id}", "ann", 1, 0, 1, 1, 1) for id in IDS]
    intents = [intent(n)._replace(cover=cover) for n, cover in zip(claimed, covers, strict=True)]
    return STORE.begin("mail", intents, START)


def close(verb: str) -> Plan[Any]:
    policy = DigestPolicy(limit=2, overflow="drop", expire_after=HOUR, unread_of="mail")
    cursors = [Cursor("mail", f"r{id}", None, "test", "UTC", START, None, START + HOUR) for id in IDS]
    closings = [closing(one, policy, come(one, policy, START + HOUR), START + HOUR) for one in cursors]
    return reach(STORE.take_items([one for one in closings if one is not None], START + HOUR), verb)


def addressed() -> list[Intent]:
    claimed = [make(State.CLAIMED, id=id, kind="mail") for id in IDS]
    return [intent(n)._replace(address=f"r{n.id}@example.org") for n in claimed]


NO_FILTER = dict.fromkeys(("kind", "state", "channel", "tenant"))
WAKE, SUSPECT = "notifications_wake", "notifications_suspect"
PRIMARY = "notifications_pkey"

PINNED: dict[str, Pinned] = {
    "an empty claim": Pinned(claim, [WAKE, SUSPECT]),
    "an empty sweep": Pinned(lambda: claim(floor=EPOCH), [WAKE, SUSPECT]),
    "a claim of a paused channel": Pinned(lambda: claim("paused"), [WAKE, SUSPECT]),
    "peek": Pinned(lambda: STORE.peek("mail", ["mail"], EPOCH), [WAKE, SUSPECT]),
    "peek from the floor": Pinned(lambda: STORE.peek("mail", ["mail"], FLOOR), [WAKE, SUSPECT]),
    "look": Pinned(
        lambda: STORE.look(["mail", "push"], ["mail"]),
        [WAKE, SUSPECT, "notifications_lease", "notifications_expiry", "notifications_attention", "schedules_next"],
        1_000,
    ),
    "begin": Pinned(begin, [PRIMARY]),
    "accept": Pinned(accept, [PRIMARY], 100),
    "apply": Pinned(apply, [PRIMARY], 100),
    "extend": Pinned(lambda: STORE.extend([(id, 1) for id in IDS], START, UNTIL), [], 1_500),
    "postpone": Pinned(lambda: STORE.postpone([(id, 1, UNTIL) for id in IDS]), [PRIMARY]),
    "request_cancel": Pinned(lambda: STORE.request_cancel(dict.fromkeys(IDS, "why")), [PRIMARY]),
    "schedule what exists": Pinned(schedule, ["identities_pkey"]),
    "read": Pinned(lambda: STORE.read("mail", "k5"), [PRIMARY, "identities_pkey"]),
    "lock": Pinned(lambda: STORE.lock("mail", "k5"), [PRIMARY, "identities_pkey"]),
    "lock_expired_leases": Pinned(lambda: STORE.lock_expired_leases(START, 500), ["notifications_lease"]),
    "lock_worthless": Pinned(lambda: STORE.lock_worthless(START, 500), ["notifications_expiry"]),
    "lock_uncertain": Pinned(lambda: STORE.lock_uncertain(["mail"], START, 500), ["notifications_attention"]),
    "lock_evidenced": Pinned(lambda: STORE.lock_evidenced(["mail"], 500), ["evidence_new"]),
    "lock_groups": Pinned(lambda: STORE.lock_groups(["g17"], 1000), ["notifications_group"]),
    "lock_due_schedules": Pinned(lambda: STORE.lock_due_schedules(["mail"], START, 500), ["schedules_next"], 500),
    "lock_schedules": Pinned(lambda: STORE.lock_schedules(["s5", "no"]), ["schedules_pkey"]),
    "read_schedule": Pinned(lambda: STORE.read_schedule("s5"), ["schedules_pkey"]),
    "read_schedules": Pinned(lambda: STORE.read_schedules("s5", None, None, 100), ["schedules_pkey"], 400),
    "lock_deadlines": Pinned(lambda: STORE.lock_deadlines([("mail", "d5"), ("mail", "no")]), ["deadlines_pkey"]),
    "read_deadlines": Pinned(lambda: STORE.read_deadlines([("mail", "d5"), ("mail", "no")]), ["deadlines_pkey"]),
    "read_missed": Pinned(lambda: STORE.read_missed({}, 2**62, 100), ["missed_pkey"]),
    "read_missed of a recipient": Pinned(
        lambda: STORE.read_missed({"recipient": "r17"}, 2**62, 100), ["missed_recipient"]
    ),
    "lock_retimable": Pinned(lambda: STORE.lock_retimable("2026f", 5, START, 500), [PRIMARY], 3_000),
    "lock_recipient": Pinned(lambda: STORE.lock_recipient("r17"), ["identities_recipient", PRIMARY], 100),
    "search_recipient": Pinned(
        lambda: STORE.search_recipient("r17", NO_FILTER, 2**62, 100), ["identities_recipient", PRIMARY], 100
    ),
    "read_identities": Pinned(lambda: STORE.read_identities([("mail", "k5"), ("mail", "no")]), ["identities_pkey"]),
    "read_doubtful_evidence": Pinned(lambda: STORE.read_doubtful_evidence([8, 16]), ["evidence_pkey", "attempts_pkey"]),
    "record_evidence": Pinned(
        lambda: STORE.record_evidence([Evidence(8, 1, START, "receipt", "unknown")]), []
    ),
    "mark_read": Pinned(
        lambda: STORE.mark_read(ReadUpTo("mail", "c5", "ann"), unread.group("mail", "c5", "ann"), "read", "app", START),
        ["conversations_pkey"],
    ),
    "read_unread": Pinned(
        lambda: STORE.read_unread([About(id, "mail", f"c{id}", "ann", 1, "m") for id in IDS]),
        ["messages_pkey", "covers_place", PRIMARY],
        150,
    ),
    "take_cover": Pinned(speak, []),
    "lock_due_cursors": Pinned(lambda: STORE.lock_due_cursors(["mail"], START, 100), ["digest_cursors_close"], 400),
    "drop_read_items": Pinned(lambda: close("drop_read_items"), ["digest_items_ready"]),
    "expire_items": Pinned(lambda: close("expire_items"), ["digest_items_ready"]),
    "take_items": Pinned(lambda: close("take_items"), ["digest_items_ready"], 100),
    "weigh_items": Pinned(lambda: close("weigh_items"), ["digest_items_ready"]),
    "drop_items": Pinned(lambda: close("drop_items"), ["digest_items_ready"]),
    "read_selections": Pinned(
        lambda: STORE.read_selections(IDS), ["digests_notification", "digest_items_ready"]
    ),
    "read_ended_digests": Pinned(
        lambda: STORE.end_digests(dict.fromkeys(IDS, False), START), ["digests_notification"]
    ),
    "find_digests": Pinned(lambda: STORE.find_digests(None, None, 2**62, 100), ["digests_notification"], 500),
    "begin with an address": Pinned(
        lambda: STORE.begin("mail", addressed(), START), [PRIMARY, "suppressions_pkey"]
    ),
    "read_suppressed": Pinned(lambda: STORE.read_suppressed("mail", addressed()), ["suppressions_pkey"]),
    "read_people": Pinned(lambda: STORE.read_people(["r5", "r6", "no"]), ["people_pkey", "opt_outs_pkey"]),
    "read_referred_attempts": Pinned(
        lambda: STORE.read_referred_attempts([8, 16], ["p24", "no"]), ["attempts_pkey", "attempts_provider", PRIMARY]
    ),
    "lock_unmatched_receipts": Pinned(
        lambda: STORE.lock_unmatched_receipts(START - HOUR, 100), ["receipts_unmatched"], 400
    ),
    "read_receipts": Pinned(lambda: STORE.read_receipts(5), ["receipts_notification"]),
    "take_probe": Pinned(lambda: STORE.take_probe("mail", "w", START, UNTIL), []),
    "prune": Pinned(prune, ["notifications_closed"]),
}  # fmt: skip
