"""What must hold after a run, of the ledger and of what the receivers recorded.

An oracle is a function of one channel's record that answers what it found wrong, or nothing. Its name says what must
hold.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from duebook import State

SHOWN = 5


@dataclass(frozen=True)
class Record:
    """One channel after a run. `uncertain_at_most`: how many may wait for a person, by what was done to the workers."""

    channel: str
    keyed: bool
    promised: frozenset[str]
    states: Mapping[str, State]
    taken: Counter[str]
    uncertain_at_most: int

    def those(self, state: State) -> set[str]:
        return {key for key, found in self.states.items() if found is state}

    def __str__(self) -> str:
        accepted, uncertain = self.those(State.ACCEPTED), self.those(State.UNCERTAIN)
        return (
            f"{self.channel}: promised {len(self.promised):,}, accepted {len(accepted):,}, "
            f"uncertain {len(uncertain):,} of at most {self.uncertain_at_most:,}, "
            f"lost {len(lost(self))}, double {sum(self.taken.values()) - len(self.taken)}"
        )


def lost(record: Record) -> set[str]:
    """Return what was promised and is neither with the receiver nor waiting for a person."""
    return set(record.promised) - set(record.taken) - record.those(State.UNCERTAIN)


def nothing_is_lost(record: Record) -> str | None:
    return _told(lost(record))


def everything_promised_is_on_record(record: Record) -> str | None:
    return _told(record.promised ^ set(record.states))


def everything_came_to_an_end(record: Record) -> str | None:
    ends = (State.ACCEPTED, State.UNCERTAIN)
    return _told(f"{key} is {state.value}" for key, state in record.states.items() if state not in ends)


def nobody_is_told_twice(record: Record) -> str | None:
    return _told(key for key, times in record.taken.items() if times > 1)


def nothing_is_accepted_that_was_not_taken(record: Record) -> str | None:
    return _told(record.those(State.ACCEPTED) - set(record.taken))


def what_was_taken_is_accepted_or_uncertain(record: Record) -> str | None:
    return _told(set(record.taken) - record.those(State.ACCEPTED) - record.those(State.UNCERTAIN))


def a_key_leaves_nothing_uncertain(record: Record) -> str | None:
    return _told(record.those(State.UNCERTAIN)) if record.keyed else None


def few_are_uncertain(record: Record) -> str | None:
    found = len(record.those(State.UNCERTAIN))
    return f"{found} of at most {record.uncertain_at_most}" if found > record.uncertain_at_most else None


ORACLES: tuple[Callable[[Record], str | None], ...] = (
    nothing_is_lost,
    everything_promised_is_on_record,
    everything_came_to_an_end,
    nobody_is_told_twice,
    nothing_is_accepted_that_was_not_taken,
    what_was_taken_is_accepted_or_uncertain,
    a_key_leaves_nothing_uncertain,
    few_are_uncertain,
)


def judged(record: Record) -> list[str]:
    """Return what each oracle found wrong."""
    found = ((oracle.__name__, oracle(record)) for oracle in ORACLES)
    return [f"{record.channel}, {name}: {wrong}" for name, wrong in found if wrong]


def _told(keys: Iterable[str]) -> str | None:
    wrong = sorted(keys)
    return f"{len(wrong)}, such as {', '.join(wrong[:SHOWN])}" if wrong else None
