"""Whose address is whose, in the two forms that providers take."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.message import Email


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An address and, if known, whose it is. As text: `"Ann" <ann@example.net>`."""

    address: str
    person: str | None = None

    def __str__(self) -> str:
        if self.person is None:
            return self.address
        quoted = self.person.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{quoted}" <{self.address}>'

    def fields(self) -> dict[str, str]:
        """Return `{"email": …, "name": …}`, without a name where there is none."""
        return {"email": self.address} | ({} if self.person is None else {"name": self.person})


def recipient(message: Email) -> Mailbox:
    """Return whom a message goes to."""
    return Mailbox(message.to, message.to_name)


def sender(message: Email, usual: Mailbox) -> Mailbox:
    """Return whom a message comes from: what it names itself, and else what the channel usually writes."""
    if message.sender is not None:
        return Mailbox(message.sender, message.sender_name)
    return Mailbox(usual.address, message.sender_name or usual.person)
