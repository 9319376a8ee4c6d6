"""People: where and how they want to be reached, and what they do not want."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time

from ..domain import unsubscribe, zones
from ..domain.people import Person, QuietHours
from ..domain.policy import checked_name
from ..domain.text import NAME_CHARACTERS, REASON_CHARACTERS, RECIPIENT_CHARACTERS, checked
from ..errors import InvalidInput
from ..ports import Plan
from .context import Context
from .work import Wakes, Work

ADDRESS_CHARACTERS = 2_000
UNSUBSCRIBED = "unsubscribed by one click"


class PeopleRoom:
    """Each method returns Work; app/twins.py makes a method that is awaited of it, and one that is not."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def set(
        self,
        recipient: str,
        *,
        zone: str | None = None,
        locale: str | None = None,
        addresses: Mapping[str, str] | None = None,
        preferred: str | None = None,
        quiet: tuple[time, time] | None = None,
    ) -> Work[Person]:
        """Note what is known about a recipient, in the place of what was. It takes effect on whatever has not begun.

        `addresses`: by channel; the handler finds them in `due.person`. `preferred`: the channel they would rather
        have, where the kind can use it. `quiet`: from one time of day to another, in their zone: what comes then waits.
        Raises InvalidInput naming the field; then nothing is stored.
        """
        now = self.context.clock.now()
        person = Person(
            checked("recipient", recipient, RECIPIENT_CHARACTERS),
            zone if zone is None else zones.zone(zone).key,
            locale if locale is None else checked("locale", locale, NAME_CHARACTERS),
            _checked_addresses(addresses or {}),
            preferred if preferred is None else checked_name("preferred", preferred),
            _checked_quiet(quiet, zone),
            changed_at=now,
        )

        def plan(wakes: Wakes) -> Plan[Person]:
            yield from self.context.store.put_person(person, self.context.by, now)
            return person

        return Work(plan)

    def find(self, recipient: str) -> Work[Person | None]:
        """Return what is known about a recipient and what they opted out of, or None if it is nothing."""
        checked("recipient", recipient, RECIPIENT_CHARACTERS)

        def plan(wakes: Wakes) -> Plan[Person | None]:
            return (yield from self.context.store.read_people([recipient])).get(recipient)

        return Work(plan, atomic=False)

    def opt_out(
        self, recipient: str, *, kind: str | None = None, channel: str | None = None, reason: str = "opted out"
    ) -> Work[bool]:
        """Note that a person wants nothing of a kind, over a channel, or at all; essential kinds are sent all the same.
        Answers whether it is new."""
        checked("recipient", recipient, RECIPIENT_CHARACTERS)
        checked("reason", reason, REASON_CHARACTERS)
        scope, now = self.context.scope(channel, kind), self.context.clock.now()
        return Work(lambda wakes: self.context.store.opt_out(recipient, scope, reason, self.context.by, now))

    def opt_in(self, recipient: str, *, kind: str | None = None, channel: str | None = None) -> Work[bool]:
        """Note that a person wants it again; answers whether they had opted out of just that."""
        checked("recipient", recipient, RECIPIENT_CHARACTERS)
        scope = self.context.scope(channel, kind)
        return Work(lambda wakes: self.context.store.opt_in(recipient, scope))

    def unsubscribe(self, secret: str, token: str) -> Work[bool]:
        """Do what the token of a one-click address asks for (RFC 8058). For the POST alone: mail gateways open every
        link, so a GET must only show what a POST would do. Answers whether it is new; twice is the same as once."""
        wish = unsubscribe.read(secret, token)
        return self.opt_out(wish.recipient, kind=wish.kind, reason=UNSUBSCRIBED)


def _checked_addresses(addresses: Mapping[str, str]) -> Mapping[str, str]:
    if not isinstance(addresses, Mapping):
        raise InvalidInput("addresses", f"must be a mapping of channels to addresses, not {type(addresses).__name__}")
    return {
        checked_name("addresses", channel): checked(f"addresses[{channel}]", address, ADDRESS_CHARACTERS)
        for channel, address in addresses.items()
    }


def _checked_quiet(quiet: tuple[time, time] | None, zone: str | None) -> QuietHours | None:
    if quiet is None:
        return None
    if zone is None:
        raise InvalidInput("zone", "quiet hours need the zone whose clock they follow")
    try:
        start, end = quiet
    except (TypeError, ValueError):
        raise InvalidInput("quiet", "must be two times of day, such as (time(22), time(7))") from None
    if not isinstance(start, time) or not isinstance(end, time) or start.tzinfo or end.tzinfo:  # type: ignore[redundant-expr]
        raise InvalidInput("quiet", "must be two times of day without a zone, such as (time(22), time(7))")
    if start == end or start.second or end.second or start.microsecond or end.microsecond:
        raise InvalidInput("quiet", "must be two different times of day, to the minute")
    return QuietHours(start, end)
