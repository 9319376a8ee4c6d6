"""What an SMTP double gets and gives."""

from __future__ import annotations

from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Literal, get_args

Phase = Literal[
    "greeting", "EHLO", "HELO", "STARTTLS", "AUTH", "RSET", "MAIL", "RCPT", "DATA", "body", "dot", "QUIT"
]  # fmt: skip
"""A moment at which the server speaks. `dot` is the final reply. At `body` nothing of the mail has been read, and the
server can only drop the connection or hang."""

PHASES: tuple[Phase, ...] = get_args(Phase)


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail as far as it is known: `content` stays empty until the final dot."""

    sender: str = ""
    recipients: tuple[str, ...] = ()
    content: bytes = b""

    @property
    def message(self) -> EmailMessage:
        parsed = message_from_bytes(self.content, policy=policy.default)
        assert isinstance(parsed, EmailMessage)
        return parsed


@dataclass(frozen=True, slots=True)
class Say:
    """Answer with this text, of one line or several. `take`: the mail counts as accepted, whatever the text says."""

    text: str
    take: bool = False


ORDINARY: dict[Phase, Say] = {
    "greeting": Say("220 mail.example ready"),
    "HELO": Say("250 mail.example"),
    "STARTTLS": Say("220 go ahead"),
    "AUTH": Say("235 2.7.0 welcome"),
    "RSET": Say("250 2.0.0 Ok"),
    "MAIL": Say("250 2.1.0 Ok"),
    "RCPT": Say("250 2.1.5 Ok"),
    "DATA": Say("354 go ahead"),
    "QUIT": Say("221 bye"),
}
"""What a server answers at each phase whose reply is always the same."""


def path(command: str) -> str:
    """Return the address between the angle brackets of a command."""
    return command.partition("<")[2].partition(">")[0]


def several(lines: list[str]) -> str:
    """Return the lines of a reply to EHLO."""
    return "\r\n".join([*(f"250-{line}" for line in lines[:-1]), f"250 {lines[-1]}"])
