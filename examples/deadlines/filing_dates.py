"""Writes us-tax-2027.csv: when each account of accounts.csv is reminded of its US federal filings of 2027.

    python examples/deadlines/filing_dates.py

A filing date of the law that falls on a Saturday, a Sunday or a legal holiday in the District of Columbia moves to the
next day that is none of these (Internal Revenue Code §7503). README.md lists the outcome.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
COLUMNS = ("kind", "key", "recipient", "at", "zone", "group", "form", "period", "deadline", "days_before")
DAYS_BEFORE = (30, 7, 1)
AT = "09:00"


class Filing(NamedTuple):
    """What is due: `lawful` is the day the law names, before weekends and holidays are looked at."""

    form: str
    period: str
    lawful: date


class Account(NamedTuple):
    account: str
    name: str
    email: str
    zone: str
    files_as: str


def quarters_of_941() -> list[Filing]:
    """The last day of the month that follows the quarter."""
    ends = {"2026-Q4": date(2027, 1, 31), "2027-Q1": date(2027, 4, 30), "2027-Q2": date(2027, 7, 31)}
    return [Filing("941", period, day) for period, day in {**ends, "2027-Q3": date(2027, 10, 31)}.items()]


def instalments(form: str, last: date) -> list[Filing]:
    """Estimated tax for 2027, in four parts; only the last differs between people and corporations."""
    days = (date(2027, 4, 15), date(2027, 6, 15), date(2027, 9, 15), last)
    return [Filing(form, f"2027-Q{number}", day) for number, day in enumerate(days, 1)]


PAYEES = [Filing("W-2", "2026", date(2027, 1, 31)), Filing("1099-NEC", "2026", date(2027, 1, 31))]

FILINGS: dict[str, list[Filing]] = {
    "individual": [Filing("1040", "2026", date(2027, 4, 15)), *instalments("1040-ES", date(2028, 1, 15))],
    "individual-extended": [
        Filing("4868", "2026", date(2027, 4, 15)),
        Filing("FBAR", "2026", date(2027, 4, 15)),
        Filing("1040", "2026", date(2027, 10, 15)),
    ],
    "partnership": [Filing("1065", "2026", date(2027, 3, 15)), *quarters_of_941()],
    "partnership-extended": [
        Filing("7004", "2026", date(2027, 3, 15)),
        Filing("1065", "2026", date(2027, 9, 15)),
        *PAYEES,
    ],
    "s-corporation": [Filing("1120-S", "2026", date(2027, 3, 15)), *PAYEES],
    "corporation": [Filing("1120", "2026", date(2027, 4, 15)), *instalments("1120-ES", date(2027, 12, 15))],
    "nonprofit": [Filing("990", "2026", date(2027, 5, 15)), *quarters_of_941()],
}


@cache
def holidays(year: int) -> frozenset[date]:
    """The legal holidays in the District of Columbia, on the days they are observed."""
    fixed = [(1, 1), (4, 16), (6, 19), (7, 4), (11, 11), (12, 25)]
    days = [_observed(date(year, month, day)) for month, day in fixed]
    days.append(_observed(date(year + 1, 1, 1)))
    days += [_nth_monday(year, month, nth) for month, nth in ((1, 3), (2, 3), (9, 1), (10, 2))]
    last_of_may = date(year, 5, 31)
    days.append(last_of_may - timedelta(days=last_of_may.weekday()))
    first_of_november = date(year, 11, 1)
    days.append(first_of_november + timedelta(days=(3 - first_of_november.weekday()) % 7 + 21))
    return frozenset(days)


def _observed(day: date) -> date:
    """A Saturday's holiday is kept on Friday, a Sunday's on Monday (5 U.S.C. §6103)."""
    return day + timedelta(days={5: -1, 6: 1}.get(day.weekday(), 0))


def _nth_monday(year: int, month: int, nth: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=-first.weekday() % 7 + 7 * (nth - 1))


def moved(day: date) -> date:
    """Return the day a filing is due: the lawful one, or the next that is a business day."""
    while day.weekday() >= 5 or day in holidays(day.year):
        day += timedelta(days=1)
    return day


def accounts() -> list[Account]:
    with (HERE / "accounts.csv").open(encoding="utf-8", newline="") as file:
        return [Account(**row) for row in csv.DictReader(file)]


def rows() -> Iterator[dict[str, str]]:
    """One row for each reminder, in the columns that `duebook import` understands."""
    for account in accounts():
        for form, period, lawful in FILINGS[account.files_as]:
            deadline = moved(lawful)
            for days in DAYS_BEFORE:
                values = (
                    "deadline",
                    f"{account.account}/{form}/{period}/{days}d",
                    account.account,
                    f"{deadline - timedelta(days=days)} {AT}",
                    account.zone,
                    account.account,
                    form,
                    period,
                    str(deadline),
                    str(days),
                )
                yield dict(zip(COLUMNS, values, strict=True))


def main() -> None:
    with (HERE / "us-tax-2027.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows())


if __name__ == "__main__":
    main()
