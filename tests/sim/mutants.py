"""Engines and stores that are broken on purpose, one safeguard less in each. An oracle must notice every one of them.

`config`: the world in which the missing safeguard matters. `seeds`: how many runs it may take to notice at the most;
0 where that takes an order of events too rare to be drawn, and the tape of it is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from duebook.domain import settling
from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Intent, Move, Notification
from duebook.domain.outcome import Accepted, Outcome, Rejected, Retry, Uncertain
from duebook.domain.ownership import Answer
from duebook.domain.recovery import Doubt, Evidence, looked_up
from duebook.engine.claiming import Held
from duebook.engine.lane import Beginning, Lane
from duebook.engine.rescuer import Rescuer
from duebook.ports import Finished, Plan
from duebook.stores import catalog
from duebook.stores.reading import do
from duebook.stores.store import SqlStore
from tests.sim.crowd import SETTINGS, Parts
from tests.sim.run import Report, run
from tests.sim.world import Config

PLAIN = Config(None, "hold")
KEYED = Config(on_uncertain="resend")


@dataclass(frozen=True)
class Mutant:
    name: str
    parts: Parts
    config: Config = field(default=PLAIN)
    seeds: int = 60


def fall(mutant: Mutant) -> Report | None:
    """Run a mutant seed by seed until an oracle notices it; None if none does."""
    for seed in range(mutant.seeds):
        report = run(seed, mutant.config, mutant.parts)
        if report.violation is not None:
            return report
    return None


def _without_trigger(schema: str) -> str:
    return re.sub(r"create trigger duebook_lifecycle .*?\nend;\n", "", schema, flags=re.DOTALL)


def _without_guards(schema: str) -> str:
    return re.sub(
        r"    constraint .*?(?=\) strict;)", "    check (true)\n", _without_trigger(schema), count=1, flags=re.DOTALL
    )


def _without_keys(schema: str) -> str:
    """The ledger's primary keys refuse a second entry for one attempt or version; here they do not."""
    schema = schema.replace("    primary key (notification_id, number)\n", "    check (true)\n", 1)
    return schema.replace("    primary key (notification_id, version)\n", "    check (true)\n", 1)


def _sql(**replaced: tuple[str, str]) -> Callable[[str, str], str]:
    for verb, (old, _) in replaced.items():
        assert old in catalog.text("sqlite", verb), f"{verb} reads differently now"

    def text(verb: str, original: str) -> str:
        return original.replace(*replaced[verb]) if verb in replaced else original

    return text


FENCE = "where n.id = r.id and n.version = r.version and n.state = r.state"


class SendsFirst(Lane):
    """The effect before the intent."""

    def _begin(self, now: datetime, monotonic: float) -> None:
        super()._begin(now, monotonic)
        if self.beginning is not None:
            for held, intent in self.beginning.batch:
                self._send(intent, held)

    def _begun(self, beginning: Beginning, item: Finished, now: datetime, monotonic: float) -> None:
        self.beginning = None
        for held, _ in beginning.batch:
            self.held.pop(held.n.id, None)


class TrustsItsLease(Lane):
    """Never looks whether its lease still runs."""

    def _consider(self, held: Any, now: datetime) -> None:
        held.until = float("inf")
        super()._consider(held, now)


class SendsUnrecorded(Lane):
    """A begin whose commit is unknown is taken for one that was stored."""

    def _begun(self, beginning: Beginning, item: Finished, now: datetime, monotonic: float) -> None:
        if item.error is not None:
            item = Finished(item.ticket, {intent.id for _, intent in beginning.batch}, None)
        super()._begun(beginning, item, now, monotonic)


class MixesUpItsClaims(Lane):
    """What was decided about an earlier claim of a notification counts for the one held now."""

    def _decided(self, held: Held, item: Finished, now: datetime) -> None:
        super()._decided(self.held.get(held.n.id, held), item, now)


class Settles(Lane):
    """Takes one outcome for another."""

    def mistake(self, outcome: Outcome) -> Outcome:
        return outcome

    def _settle(self, intent: Intent, outcome: Outcome) -> None:
        super()._settle(intent, self.mistake(outcome))


class RetriesTheUnknown(Settles):
    def mistake(self, outcome: Outcome) -> Outcome:
        return Retry(outcome.reason) if isinstance(outcome, Uncertain) else outcome


class RejectsTheUnknown(Settles):
    def mistake(self, outcome: Outcome) -> Outcome:
        return Rejected(outcome.reason) if isinstance(outcome, Uncertain) else outcome


class AcceptsTheUnknown(Settles):
    def mistake(self, outcome: Outcome) -> Outcome:
        return Accepted("p-n0-0") if isinstance(outcome, Uncertain) else outcome


class LocalRescuer(Rescuer):
    """Judges leases by its own clock."""

    async def step(self) -> bool:
        database: Any = self.database

        async def local() -> datetime:
            now: datetime = database.clock.now()
            return now

        database.time = local
        return await super().step()


class HastyRescuer(Rescuer):
    """Gives no grace, and takes what is about to expire, too."""

    def __init__(self, registry: Any, database: Any, store: Any, settings: Any, by: str) -> None:
        super().__init__(registry, database, store, settings, by)
        hasty = object.__new__(type(SETTINGS))
        for name in SETTINGS.__slots__:
            object.__setattr__(hasty, name, getattr(SETTINGS, name))
        object.__setattr__(hasty, "grace_seconds", -4.0)
        self.settings = hasty


class ForgetfulStore(SqlStore):
    """Retention takes the identity along."""

    def prune(self, kind: Any, now: datetime, limit: int) -> Plan[int]:
        gone = yield from super().prune(kind, now, limit)
        with suppress(Exception):
            yield from do("prune_identities", kind=kind.name, before="9999", limit=limit)
        return gone


def _lost_is_safe(n: Notification, attempts: int, now: datetime, by: str, quiet: timedelta) -> Move:
    """Whatever its worker held goes back to be sent."""
    return Move(
        id=n.id, version=n.version, state=n.state, event=Event.LOSE, next=State.SCHEDULED, at=now, by=by, wake_at=now,
        reason="lost",
    )  # fmt: skip


def _cancels_anything(n: Notification, reason: str, now: datetime, by: str) -> Move | Answer:
    if n.state in (State.SENDING, State.UNCERTAIN, State.SCHEDULED, State.CLAIMED):
        return Move(
            id=n.id, version=n.version, state=n.state, event=Event.CANCEL, next=State.CANCELLED, at=now, by=by,
            closed_at=now, reason=reason,
        )  # fmt: skip
    return Answer("already_closed", n.state)


def _counts_no_doubt(*arguments: Any) -> Move:
    made = _settle(*arguments)
    return made._replace(doubt=None) if made.event is Event.TIME_OUT else made


def _believes_silence(intent: Intent, outcome: Outcome, now: datetime) -> Evidence:
    says: Any = "accepted" if isinstance(outcome, Accepted) else "not_accepted"
    return Evidence(intent.id, intent.number, now, "late_report", says, None, None)


def _random_key(namespace: str, kind: str, key: str) -> str:
    return f"{namespace}:{kind}-{uuid4().hex}:{key}"


class SendsTheRendered(Lane):
    """Repeats under doubt, but with what the handler just made."""

    def _send(self, intent: Intent, held: Any) -> None:
        super()._send(intent._replace(doubt=0), held)


_settle = settling.settle


def _believes_absence(doubt: Doubt, says: Any, provider_id: str | None, detail: str, now: datetime) -> Evidence:
    return looked_up(replace(doubt, reported=True), says, provider_id, detail, now)


def _heeds_nothing(*_: Any) -> None:
    return None


def _patched(*pairs: tuple[str, Any], **more: Any) -> Parts:
    return Parts(patches=pairs, **more)


ALWAYS_PROTECTED = (
    ("duebook.domain.deciding.key_protects", lambda *_: True),
    ("duebook.domain.recovery.key_protects", lambda *_: True),
)
UNFENCED_BEGIN = _sql(begin=("n.version = r.version - 1 and n.lease_until > r.at", "n.lease_until is not null"))
BY_STATE = _sql(apply=(FENCE, "where n.id = r.id and n.state = r.state"))
BY_VERSION = _sql(apply=(" and n.state = r.state", ""))

MUTANTS = (
    Mutant("no fence at all", Parts(text=_sql(apply=(FENCE, "where n.id = r.id")), schema=_without_guards)),
    Mutant("fence by state only", Parts(text=BY_STATE, schema=_without_keys), PLAIN, 300),
    Mutant("fence by version only", Parts(text=BY_VERSION, schema=_without_trigger), PLAIN, 400),
    Mutant(
        "begin without its fence, on a lease that is trusted",
        Parts(lane=TrustsItsLease, schema=_without_guards, text=UNFENCED_BEGIN),
        PLAIN,
        seeds=0,
    ),
    Mutant("the effect before the intent", Parts(lane=SendsFirst)),
    Mutant("an unknown begin is sent", Parts(lane=SendsUnrecorded), PLAIN, 100),
    Mutant("two claims by one worker are taken for one", Parts(lane=MixesUpItsClaims), seeds=0),
    Mutant("the unknown is retried", Parts(lane=RetriesTheUnknown)),
    Mutant("the unknown is rejected", Parts(lane=RejectsTheUnknown)),
    Mutant("the unknown is accepted", Parts(lane=AcceptsTheUnknown)),
    Mutant("a fresh idempotency key", _patched(("duebook.engine.sending.idempotency_key", _random_key)), KEYED),
    Mutant("an attempt counted late", Parts(text=_sql(begin=("number = r.number", "number = n.number")))),
    Mutant("rendered anew under doubt", Parts(lane=SendsTheRendered), KEYED),
    Mutant(
        "skip closes despite doubt",
        _patched(("duebook.domain.notification.NEEDS_CERTAINTY", frozenset()), schema=_without_guards),
        KEYED,
        300,
    ),
    Mutant("doubt is not counted", _patched(("duebook.domain.settling.settle", _counts_no_doubt))),
    Mutant(
        "cancel ignores the state",
        _patched(("duebook.domain.ownership.cancel", _cancels_anything), schema=_without_guards),
    ),
    Mutant("a late cancel is forgotten", _patched(("duebook.stores.store.honour", lambda n, now: None)), KEYED, 400),
    Mutant("leases by the local clock", Parts(rescuer=LocalRescuer), PLAIN, 100),
    Mutant("a rescuer without grace", Parts(rescuer=HastyRescuer)),
    Mutant(
        "lost on the wire is taken for unsent",
        _patched(("duebook.domain.recovery.lose", _lost_is_safe), schema=_without_guards),
    ),
    Mutant(
        "silence is taken for proof of absence",
        _patched(("duebook.engine.writing._evidence", _believes_silence)),
        PLAIN,
        300,
    ),
    Mutant(
        "late evidence reopens what is closed",
        _patched(("duebook.domain.recovery.CLOSED", frozenset())),
        Config(None, "assume_sent"),
        seeds=0,
    ),
    Mutant("a repeat after the key's window", _patched(*ALWAYS_PROTECTED), Config(70.0, "resend"), 300),
    Mutant(
        "a repeat without any key",
        _patched(*ALWAYS_PROTECTED, ("tests.sim.world._unkeyed", lambda policy: policy)),
        Config(None, "resend"),
    ),
    Mutant(
        "absence is proof while a worker may still send",
        _patched(("duebook.engine.reconciler.looked_up", _believes_absence)),
        Config(None, asks="proof"),
        seeds=0,
    ),
    Mutant(
        "receipts are kept and not heeded",
        _patched(("duebook.features.receipts.rules.evidence", _heeds_nothing)),
        Config(None, receipts=True),
    ),
    Mutant("the identity deleted by the pruner", Parts(store=ForgetfulStore), Config(None, prunes=True)),
)
