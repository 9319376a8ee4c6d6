"""What becomes of prompts that wait in review: a policy, to be run by hand or every few minutes.

    python redrive.py --dry-run
    python redrive.py

The class of a failure and the school say what is to be done. A prompt that is still useful goes back to be sent as any
other is: its handler is asked again, and its pupil's wish is read again. Nothing is sent from here.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal, NamedTuple

import school
from app import book

from duebook import Event, Notification

PAGE = 500

Failure = Literal["exhausted", "refused", "faulty"]


class Ruling(NamedTuple):
    verb: Literal["redrive", "drop", "leave"]
    reason: str


class Row(NamedTuple):
    """What became of one prompt. `answer`: what duebook answered to the verb."""

    key: str
    failure: Failure
    verb: str
    answer: str
    reason: str


POLICY: Mapping[Failure, Ruling] = {
    "exhausted": Ruling("redrive", "its attempts were used up, and its lesson is not over"),
    # duebook says no unless the pupil's record was changed since: the same address would be refused again.
    "refused": Ruling("redrive", "it was refused, and the pupil's record may be newer"),
    "faulty": Ruling("leave", "nothing was sent: data or code has to be mended first"),
}


def failure(n: Notification) -> Failure:
    """Return the class of the failure that brought a prompt into review."""
    if n.number == 0:
        return "faulty"
    return "exhausted" if n.event is Event.EXHAUST else "refused"


def rule(n: Notification, why_worthless: str | None) -> Ruling:
    """Return what is to become of a prompt in review."""
    return POLICY[failure(n)] if why_worthless is None else Ruling("drop", why_worthless)


def review(now: datetime, *, dry_run: bool) -> Iterator[Row]:
    """Rule on every prompt in review, and do what was ruled unless it is a dry run."""
    for n in _in_review():
        ruling = rule(n, school.why_worthless(json.loads(n.data)["lesson"], now))
        yield Row(n.key, failure(n), ruling.verb, "-" if dry_run else _carry_out(n, ruling), ruling.reason)


def _in_review() -> Iterator[Notification]:
    before = 2**62
    while page := book.sync.search(kind="prompt", state="review", before=before, limit=PAGE):
        yield from page
        before = page[-1].id


def _carry_out(n: Notification, ruling: Ruling) -> str:
    match ruling.verb:
        case "redrive":
            return book.sync.redrive(n.kind, n.key, reason=ruling.reason).result
        case "drop":
            return book.sync.drop(n.kind, n.key, reason=ruling.reason).result
        case "leave":
            return "-"


def main() -> None:
    parser = argparse.ArgumentParser(description="Rule on every prompt that waits in review.")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    rows = [Row._fields, *review(datetime.now(UTC), dry_run=parser.parse_args().dry_run)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    book.sync.close()


if __name__ == "__main__":
    main()
