"""The auditor: reads everything on record, a page at a time, and says what does not hold.

It only reads, each page in a statement of its own, so it may look at a database in use: it holds no locks and keeps
nothing open. What looks wrong is read once more before it is reported, with what steers the workers as it is by then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from ..domain import audit, audit_gathered, audit_reached, audit_time
from ..domain.audited import Patience, Surroundings, explained
from ..ports import Database, Plan, Store
from .settings import EngineSettings

PAGE = 2_000
EXAMPLES = 20
REREAD = 1_000_000

Judge = Callable[[Any, Surroundings], str | None]


class Violation(NamedTuple):
    """Something that must hold and does not. `check`: the function that says so. `row`: what it was judged by."""

    check: str
    subject: str
    found: str
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One pass over records of one kind, in the order of a key.

    `read(store, after, until, limit)` is the plan of a page of named tuples with a `subject`. `checks` judge one of
    them; their names are the names of what is violated. `explains`: why something that waits is no violation.
    """

    name: str
    read: Callable[[Store, Any, Any, int], Plan[Any]]
    key: Callable[[Any], Any]
    start: Any
    checks: Sequence[Judge]
    explains: Judge = lambda record, around: None


SWEEPS: tuple[Sweep, ...] = (
    Sweep(
        "notifications", lambda store, after, until, limit: store.audit_notifications(after, until, limit),
        lambda n: n.id, 0, audit.CHECKS, explained,
    ),
    Sweep(
        "identities", lambda store, after, until, limit: store.audit_identities(after, until, limit),
        lambda i: (i.kind, i.key), ("", ""), (audit.identity_remembers,),
    ),
    Sweep(
        "ledger", lambda store, after, until, limit: store.audit_ledger(after, until, limit),
        lambda owner: owner.id, 0, (audit.ledger_has_its_notification,),
    ),
    Sweep(
        "schedules", lambda store, after, until, limit: store.audit_schedules(after, until, limit),
        lambda s: s.name, "", audit_time.SCHEDULE_CHECKS, audit_time.why_it_waits,
    ),
    Sweep(
        "deadlines", lambda store, after, until, limit: store.audit_deadlines(after, until, limit),
        lambda d: (d.kind, d.key), ("", ""), audit_time.DEADLINE_CHECKS,
    ),
    Sweep(
        "covers", lambda store, after, until, limit: store.audit_covers(after, until, limit),
        lambda c: c.id, 0, audit_gathered.COVER_CHECKS,
    ),
    Sweep(
        "digests", lambda store, after, until, limit: store.audit_digests(after, until, limit),
        lambda d: (d.kind, d.recipient, d.label), ("", "", ""), audit_gathered.DIGEST_CHECKS,
    ),
    Sweep(
        "digest items", lambda store, after, until, limit: store.audit_items(after, until, limit),
        lambda i: (i.kind, i.recipient, i.item), ("", "", ""), audit_gathered.ITEM_CHECKS,
    ),
    Sweep(
        "digest periods", lambda store, after, until, limit: store.audit_periods(after, until, limit),
        lambda p: (p.kind, p.recipient), ("", ""), audit_gathered.PERIOD_CHECKS, audit_gathered.why_it_waits,
    ),
    Sweep(
        "receipts", lambda store, after, until, limit: store.audit_receipts(after, until, limit),
        lambda receipt: (receipt.provider, receipt.id), ("", ""), audit_reached.RECEIPT_CHECKS,
    ),
    Sweep(
        "suppressions", lambda store, after, until, limit: store.audit_suppressions(after, until, limit),
        tuple, ("", "", ""), audit_reached.SUPPRESSION_CHECKS,
    ),
)  # fmt: skip
"""Features add theirs: a check of a notification to audit.CHECKS, a sweep over tables of their own here."""


@dataclass(slots=True)
class Report:
    """What an audit found. `counts`: of each check that is violated. `examples`: the first few of each. `read`: records
    of each sweep. `explained`: what waits although it is due, by the reason why."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[Violation]] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        return not self.counts

    @property
    def violations(self) -> list[Violation]:
        return [violation for name in sorted(self.examples) for violation in self.examples[name]]

    def add(self, violation: Violation, most: int) -> None:
        """Count a violation, and keep it if it is one of the first of its check."""
        self.counts[violation.check] += 1
        if self.counts[violation.check] <= most:
            self.examples.setdefault(violation.check, []).append(violation)


class Auditor:
    """`database` may be left out by those who run `whole` on a connection of their own."""

    def __init__(
        self,
        database: Database | None,
        store: Store,
        settings: EngineSettings | None = None,
        patience: Patience | None = None,
        *,
        examples: int = EXAMPLES,
        page: int = PAGE,
        sweeps: Sequence[Sweep] = SWEEPS,
    ) -> None:
        self.database = database
        self.store = store
        self.settings = settings or EngineSettings()
        self.patience = patience or Patience()
        self.examples = examples
        self.page = page
        self.sweeps = sweeps

    async def report(self, watch: Callable[[int], None] = lambda records: None) -> Report:
        """Read everything once, by the database's time; `watch` hears of the records read since it was last called."""
        assert self.database is not None
        report, now = Report(), await self.database.time()
        for sweep in self.sweeps:
            after = sweep.start
            while after is not None:
                before = report.read[sweep.name]
                after = await self.database.ask(self._page(sweep, after, now, report))
                watch(report.read[sweep.name] - before)
        return report

    def whole(self, now: datetime) -> Plan[Report]:
        """The same as one plan, for a database that only a test has."""
        report = Report()
        for sweep in self.sweeps:
            after = sweep.start
            while after is not None:
                after = yield from self._page(sweep, after, now, report)
        return report

    def _page(self, sweep: Sweep, after: Any, now: datetime, report: Report) -> Plan[Any]:
        """Judge a page; answers where the next one begins, or None after the last."""
        records = yield from sweep.read(self.store, after, None, self.page)
        if not records:
            return None
        around = yield from self._surroundings(now)
        last = sweep.key(records[-1])
        suspects = {(key, violation.check) for key, violation in _violations(sweep, records, around)}
        if suspects:
            around = yield from self._surroundings(now)
            again = yield from sweep.read(self.store, after, last, REREAD)
            for key, violation in _violations(sweep, again, around):
                if (key, violation.check) in suspects:
                    report.add(violation, self.examples)
        report.explained.update(filter(None, (sweep.explains(record, around) for record in records)))
        report.read[sweep.name] += len(records)
        return last if len(records) == self.page else None

    def _surroundings(self, now: datetime) -> Plan[Surroundings]:
        held = self.settings.lease + timedelta(seconds=self.settings.grace_seconds)
        controls = yield from self.store.read_controls()
        kinds = yield from self.store.read_kinds()
        rates = yield from self.store.audit_rates()
        seen = {known.kind: known.seen_at for known in kinds}
        return Surroundings(now, held, self.patience, {control.scope: control for control in controls}, seen, rates)


def _violations(sweep: Sweep, records: Sequence[Any], around: Surroundings) -> list[tuple[Any, Violation]]:
    found = []
    for record in records:
        for check in sweep.checks:
            if said := check(record, around):
                violation = Violation(check.__name__, record.subject, said, record._asdict())
                found.append((sweep.key(record), violation))
    return found
