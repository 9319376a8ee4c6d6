"""Secrets in what a server answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from .answer import Answer

_HIDDEN = b"***"


def hidden(answer: Answer, secrets: Iterable[bytes]) -> Answer:
    """Return an answer whose body holds none of these secrets: an error that quotes one would carry it into the ledger.

    They are hidden in the order given; the longer of two that overlap goes first.
    """
    body = answer.body
    for secret in secrets:
        body = body.replace(secret, _HIDDEN)
    return replace(answer, body=body)
