"""What the term's prompts said, and what became of those that said nothing: what was to be, beside what was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from ...domain.notification import Notification
from .desk import Told
from .timetable import DOWN, FLOODED, ILL, NEW_CHANNEL, NEW_TITLE, Group, Timetable

PUNCTUAL = timedelta(minutes=1)


def told(term: Timetable, notifications: Sequence[Notification], said: Mapping[int, str]) -> Sequence[Told]:
    """Return what became of the stories; `said`: what the outbox holds of each prompt, by its id."""
    found = _Found(notifications, said)
    return [
        _promises(term, found), _title(term, found), _channel(term, found), _language(term, found),
        _called_off(term, found), _unattended(term, found), _outage(term, found),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Found:
    notifications: Sequence[Notification]
    said: Mapping[int, str]

    def of(self, *groups: Group) -> list[Notification]:
        names = {group.name for group in groups}
        return [n for n in self.notifications if n.key.partition("/")[0] in names]

    def sent(self, several: Iterable[Notification]) -> list[Notification]:
        return [n for n in several if n.id in self.said]

    def ends(self, several: Iterable[Notification]) -> Iterator[str]:
        """Yield how many of several came to which end."""
        ends = Counter("sent" if n.id in self.said else f"{n.state.value}: {n.reason}" for n in several)
        yield from (f"{number} {end}" for end, number in ends.items())


def _promises(term: Timetable, found: _Found) -> Told:
    wanted = {f"{group.name}/{pupil.pupil}" for group in term.groups for pupil in group.pupils}
    on_record = sum(n.key in wanted for n in found.notifications)
    return Told(
        "promises", "one for each pupil of each lesson", [f"{len(wanted)} on record"], [f"{on_record} on record"]
    )


def _title(term: Timetable, found: _Found) -> Told:
    group = term.retitled.groups[0]
    titles = Counter(found.said[n.id].split()[0] for n in found.sent(found.of(group)))
    return Told(
        "title", f"{group.name}, promised as {group.lesson.title}",
        [f"{len(group.pupils)} say {NEW_TITLE}"], [f"{number} say {title}" for title, number in titles.items()],
    )  # fmt: skip


def _channel(term: Timetable, found: _Found) -> Told:
    pupil, since = term.changing, term.changes_channel.due_at
    later = found.sent(n for n in found.notifications if n.recipient == pupil.pupil and n.due_at >= since)
    channels = Counter(n.channel for n in later)
    return Told(
        "channel", f"{pupil.pupil}, to be told by {pupil.reached_by} when it was promised",
        [f"{len(later)} by {NEW_CHANNEL}"], [f"{number} by {channel}" for channel, number in channels.items()],
    )  # fmt: skip


def _language(term: Timetable, found: _Found) -> Told:
    """The sign of a language is its word for a room."""
    read = {pupil.pupil: pupil.language for group in term.groups for pupil in group.pupils}
    wanted, right = [], []
    for language, name, sign in (("de", "German", ", Raum A"), ("en-GB", "English", ", room A")):
        theirs = found.sent(n for n in found.notifications if read[n.recipient] == language)
        wanted.append(f"{len(theirs)} in {name}")
        right.append(f"{sum(sign in found.said[n.id] for n in theirs)} in {name}")
    return Told("language", "to each pupil in their own", wanted, right)


def _called_off(term: Timetable, found: _Found) -> Told:
    group = term.called_off.groups[0]
    return Told(
        "no lesson", f"{group.name}, called off a day before",
        [f"{len(group.pupils)} skipped: the lesson is called off: {ILL}"], list(found.ends(found.of(group))),
    )  # fmt: skip


def _unattended(term: Timetable, found: _Found) -> Told:
    hour = term.unattended
    first, second = hour.groups
    return Told(
        "expired", f"{first.name} and {second.name}, while there was no worker",
        [f"{len(first.pupils) + len(second.pupils)} skipped: expired: worth nothing after {hour.ends_at.isoformat()}"],
        list(found.ends(found.of(*hour.groups))),
    )  # fmt: skip


def _outage(term: Timetable, found: _Found) -> Told:
    hour = term.outage
    kept, flooded = ([n for n in found.of(group) if n.channel == DOWN] for group in hour.groups)
    others = [n for n in found.of(*hour.groups) if n.channel != DOWN]
    punctual = [n for n in found.sent(others) if n.begun_at is not None and n.begun_at - n.due_at < PUNCTUAL]
    redriven = [n for n in found.sent(kept) if n.begun_at is not None and n.begun_at >= hour.starts_at]
    on_time, late = "by the other channels, in the promised minute", f"by {DOWN}, when its provider was back"
    return Told(
        "outage", f"{hour.groups[0].name} and {hour.groups[1].name}, while the {DOWN} provider was down",
        [
            f"{len(others)} {on_time}", f"{len(kept)} {late}",
            f"{len(flooded)} dropped: the lesson is called off: {FLOODED}",
        ],
        [f"{len(punctual)} {on_time}", f"{len(redriven)} {late}", *found.ends(flooded)],
    )  # fmt: skip
