"""What an HTTP answer to a webhook says about the message. Pure."""

from __future__ import annotations

from datetime import datetime

from ...domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from ...domain.text import PROVIDER_ID_CHARACTERS, clean
from ..http.answer import Answer
from ..retry_after import retry_after

_WANTS_LESS = frozenset({429, 503})
_NOT_READ = frozenset({408, 421, 425})
_KEY_IS_KNOWN = frozenset({409, 422})
# 52x are Cloudflare's: it stands before the receiver and lost it.
_FROM_A_GATEWAY = frozenset({502, 504, 520, 522, 523, 524})


def judge(answer: Answer, *, now: datetime, own_receiver: bool, repeats_key: bool) -> Outcome:
    """Return the outcome of an answered attempt.

    By the Standard Webhooks specification 2xx means delivered, and anything else that the receiver did not take
    the message and wants it again; its 500 is believed. A gateway's 502 or 504 is not such a statement: it says
    that nobody heard what the receiver did. It is Uncertain, and where `key_window` is set (receivers that drop
    a webhook-id they know, as the specification asks) the same bytes are repeated without a person.

    `own_receiver`: the channel has this one receiver, so its 429 or 503 throttles the channel. Otherwise it is
    Retry with the time asked for: one customer's full endpoint must not stop everybody else's webhooks.
    `repeats_key`: an earlier attempt carried this key, and the receiver is known to keep keys. Its 409 or 422
    then says that it has met the key, which refuses nothing.
    """
    status, reason = answer.status, str(answer)
    asked = retry_after(answer.headers.get("retry-after"), now)
    if 200 <= status < 300:
        return Accepted(_provider_id(answer))
    if status in _WANTS_LESS and own_receiver:
        return Throttled(reason, asked)
    if status in _FROM_A_GATEWAY or not 300 <= status < 600 or (repeats_key and status in _KEY_IS_KNOWN):
        return Uncertain(reason, phase="reply")
    if status >= 500 or status in _WANTS_LESS | _NOT_READ:
        return Retry(reason, asked - now if asked else None)
    if status < 400:
        return Rejected(f"{status}: redirects are not followed; give the final URL")
    return Rejected(reason)


def _provider_id(answer: Answer) -> str | None:
    """Return the `id` of a JSON object, which is where most receivers that name a message put it."""
    if "json" not in answer.headers.get("content-type", ""):
        return None
    found = answer.field("id")
    return clean(found, PROVIDER_ID_CHARACTERS) if found else None
