"""What an SMTP reply says about a message. Pure: codes and words in, outcomes out."""

from __future__ import annotations

import re

from ...domain.outcome import Outcome, Rejected, Retry, Throttled
from ...domain.text import clean

CLOSING = 421

_REPLY_CHARACTERS = 400

# RFC 4954 §6 and RFC 5321 §4.2.2: the server objects to our log-in or to our order of commands. Another
# message would have met the same answer, so it says nothing about this one.
_ABOUT_US = frozenset({502, 503, 530, 534, 535, 538})

_THROTTLING = re.compile(
    r"throttl|rate.?limit|(?:sending|message|mail) (?:rate|quota|limit)|rate exceeded|too much mail"
    r"|too many (?:concurrent |simultaneous |smtp )?(?:connections|sessions|messages|mails|emails|requests)"
    r"|concurrent connections|(?:thread|connection) limit|slow down",
    re.IGNORECASE,
)
_ABOUT_RECIPIENT = re.compile(r"4\.[12]\.\d{1,3}\b")

_QUEUED_AS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bqueued as ([^\s,;)\]>]+)",
        r"\binternalid=(\d+)",
        r"\bid=([^\s,;)\]>]+)",
        r"^(?:2\.\d\.\d )?(\S+) message accepted for delivery",
        r"\bok\s+(\d{9,}\s\S+) - gsmtp",
        r"^(?:2\.\d\.\d )?ok ([0-9a-z][0-9a-z.-]{14,})$",
    )
)


def readable(code: int) -> bool:
    """Say whether a code is one that RFC 5321 §4.2 knows for the end of a command."""
    return 200 <= code <= 599


def quote(phase: str, code: int, text: str) -> str:
    """Return a reply in one line, with the phase it answered."""
    return clean(f"{phase}: {code} {' '.join(text.split())}".rstrip(), _REPLY_CHARACTERS)


def refusal(phase: str, code: int, text: str) -> Outcome:
    """Return what a 4xx or 5xx reply to a message's own commands means.

    4xx is transient by RFC 5321 §4.2.1, whatever its digits are, 454 included: it ends in a later try. It is
    Throttled, which pauses the whole channel and uses up no attempt, only when its words say that *we* send
    too much (454 and 421 as well as 45x); greylisting (450) or a full mailbox (452, or any 4.1.x and 4.2.x)
    concerns a single recipient and must not hold back the others. 5xx is final for this message, except where
    it is about our log-in.
    """
    reason = quote(phase, code, text)
    if code < 500:
        return Throttled(reason) if _throttles(text) else Retry(reason)
    if code in _ABOUT_US:
        return Retry(f"{reason} (the server refuses this channel, not the message; check its settings)")
    return Rejected(reason)


def setup_refusal(phase: str, code: int, text: str) -> Outcome:
    """Return what a refusal before any message was mentioned means: greeting, EHLO, STARTTLS, log-in.

    Never Rejected, not even for 535 or 554: no message was named, so none was refused. With the settings put
    right every one of them can go out, and until then each counts its attempts and ends in review.
    """
    reason = quote(phase, code, text)
    if code < 500 and _throttles(text):
        return Throttled(reason)
    return Retry(f"{reason} (the server refuses this channel, not the message)" if code >= 500 else reason)


def queued_as(text: str) -> str | None:
    """Return the name the server gave the message in its last reply, if it has one of the usual forms."""
    line = " ".join(text.split(" "))
    for pattern in _QUEUED_AS:
        if found := pattern.search(line):
            return clean(found[1], 255)
    return None


def _throttles(text: str) -> bool:
    return bool(_THROTTLING.search(text)) and not _ABOUT_RECIPIENT.search(text)
