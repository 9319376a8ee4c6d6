"""Messages on the terminal, for development."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import TextIO

from ..domain.message import Email, Message, Push, Webhook, freeze
from ..domain.outcome import Accepted, Outcome
from ..domain.policy import ChannelPolicy
from ..ports import SendContext

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ConsoleChannel:
    """Prints every message to `stream` (standard output by default) and says Accepted.

    It deduplicates nothing: a repeated attempt is printed again, and its number shows that it is one.
    """

    def __init__(self, name: str = "console", *, stream: TextIO | None = None) -> None:
        self.policy = ChannelPolicy(name, concurrency=1)
        self._stream = stream

    async def send(self, message: Message, context: SendContext) -> Outcome:
        what = f"{context.kind}/{context.key} to {context.recipient}, attempt {context.number}"
        text = "\n".join([f"── {self.policy.name}: {what}", *_lines(message), ""])
        # A message holds other people's text; written raw, it could steer the developer's terminal.
        stream = self._stream or sys.stdout
        stream.write(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", text) + "\n")
        stream.flush()
        return Accepted()

    async def close(self) -> None:
        """Nothing to close; the stream belongs to somebody else."""


def _lines(message: Message) -> Iterator[str]:
    match message:
        case Email():
            yield f"To: {message.to}"
            yield f"Subject: {message.subject}"
            yield ""
            yield message.text
        case Push():
            yield f"To: {message.to}"
            yield message.title
            yield message.body
        case Webhook():
            yield f"To: {message.to or '(the URL of the channel)'}"
            yield json.dumps(message.body, ensure_ascii=False, indent=2)
        case _:
            yield freeze(message)
