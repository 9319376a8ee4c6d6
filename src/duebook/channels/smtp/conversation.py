"""One message over one connection, phase by phase.

aiosmtplib's own `data()` writes DATA, the body and the final dot under one roof, and raises the same errors
before and after that dot. Which side of it a failure falls on decides between "send again" and "nobody
knows", so the last phases are led here, with the library's documented parts: `execute_command` for the
commands, `protocol.write` for the dot and `protocol.read_response` for the answer.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from ...domain.outcome import Accepted, Outcome, Rejected, Retry, Uncertain
from ...domain.text import clean
from ..deadline import Deadline
from .mime import Letter
from .replies import CLOSING, queued_as, quote, readable, refusal, setup_refusal

if TYPE_CHECKING:
    from aiosmtplib import SMTPResponse

    from .connection import Connection

_CHUNK = 65_536
_LEADING_DOT = re.compile(rb"(?m)^\.")


class Broken(Exception):
    """The connection cannot be used again. `outcome` is what that means for the message.

    `early`: the message itself had not been asked for yet, so another connection may carry it at once.
    """

    def __init__(self, outcome: Outcome, *, early: bool = False) -> None:
        self.outcome = outcome
        self.early = early
        super().__init__(outcome)


async def converse(connection: Connection, letter: Letter, deadline: Deadline) -> Outcome:
    """Lead one letter to its last reply and return what is known; raises Broken if the connection is spent."""
    if unfit := _unfit(connection, letter):
        return unfit
    if connection.served:
        # Proves that the server is still there before the message depends on it, and that the next reply
        # belongs to the next command: an unasked reply would be read here and give itself away.
        await _command(connection, deadline, "RSET", 250)
    connection.served += 1
    for phase, words in (("MAIL", _mail(connection, letter)), ("RCPT", f"RCPT TO:<{letter.recipient}>")):
        if refused := await _command(connection, deadline, phase, 250, 251, words=words):
            return refused
    if refused := await _command(connection, deadline, "DATA", 354):
        return refused
    await _body(connection, letter, deadline)
    return await _final_dot(connection, deadline)


def _unfit(connection: Connection, letter: Letter) -> Rejected | None:
    extensions = connection.client.esmtp_extensions
    if letter.needs_smtputf8 and "smtputf8" not in extensions:
        return Rejected(
            f"{letter.recipient}: a part before the @, of this address or of sender or reply_to, is not ASCII and "
            f"needs SMTPUTF8 (RFC 6531); {connection.host} does not offer it"
        )
    size, limit = len(letter.content), extensions.get("size", "")
    if limit.isdecimal() and 0 < int(limit) < size:
        return Rejected(f"the message is {size:,} bytes; {connection.host} takes {int(limit):,}")
    return None


def _mail(connection: Connection, letter: Letter) -> str:
    words = f"MAIL FROM:<{letter.sender}>"
    if "size" in connection.client.esmtp_extensions:
        words += f" SIZE={len(letter.content)}"
    if letter.needs_smtputf8:
        words += " BODY=8BITMIME SMTPUTF8"
    return words


async def _command(
    connection: Connection, deadline: Deadline, phase: str, *good: int, words: str | None = None
) -> Outcome | None:
    """Give one command; return None if the reply is a good one, and the refusal if it is 4xx or 5xx."""
    from aiosmtplib import SMTPException, SMTPResponseException

    early = phase != "DATA"
    timeout = deadline.left(connection.command_seconds)
    try:
        reply = await connection.client.execute_command((words or phase).encode(), timeout=timeout)
    except SMTPResponseException as error:
        raise Broken(Retry(quote(phase, error.code, error.message)), early=early) from None
    except (SMTPException, OSError) as error:
        raise Broken(Retry(clean(f"{phase}: {error}")), early=early) from None
    deadline.check()
    if reply.code in good:
        return None
    if reply.code < 400 or not readable(reply.code):
        # A reply that fits no such command: we no longer know which reply belongs to what.
        raise Broken(Retry(quote(phase, reply.code, reply.message)), early=early)
    if phase == "RSET":
        raise Broken(setup_refusal(phase, reply.code, reply.message), early=True)
    outcome = refusal(phase, reply.code, reply.message)
    if reply.code == CLOSING:
        raise Broken(outcome, early=early and isinstance(outcome, Retry))
    return outcome


async def _body(connection: Connection, letter: Letter, deadline: Deadline) -> None:
    """Write everything but the final dot. Without it no server may take the message (RFC 5321 §4.1.1.4)."""
    content = _LEADING_DOT.sub(b"..", letter.content)
    try:
        async with asyncio.timeout_at(deadline.at):
            for start in range(0, len(content), _CHUNK):
                connection.writer.write(content[start : start + _CHUNK])
                await connection.writer.drain()
    except (OSError, TimeoutError) as error:
        raise Broken(Retry(clean(f"body: {str(error) or 'the server stopped reading'}"))) from None


async def _final_dot(connection: Connection, deadline: Deadline) -> Outcome:
    """Write the dot and wait for the reply, as long as the attempt lasts.

    RFC 5321 §4.5.3.2.6 asks for ten minutes: a client that gives up sooner makes duplicates (PHPMailer#1072).
    """
    from aiosmtplib import SMTPException, SMTPResponseException

    protocol = connection.protocol
    try:
        protocol.write(b".\r\n")
    except (SMTPException, OSError) as error:
        # Raised before anything is handed to the socket.
        raise Broken(Retry(clean(f"body: {error}"))) from None
    try:
        reply = await protocol.read_response(timeout=deadline.left())
    except SMTPResponseException as error:
        raise Broken(_unknown(f"unreadable reply, {error.message}")) from None
    except (SMTPException, OSError) as error:
        raise Broken(_unknown(str(error))) from None
    return _last_word(reply)


def _last_word(reply: SMTPResponse) -> Outcome:
    if 200 <= reply.code < 300:
        return Accepted(queued_as(reply.message))
    if reply.code < 400 or not readable(reply.code):
        raise Broken(_unknown(quote("unexpected reply", reply.code, reply.message)))
    outcome = refusal("final dot", reply.code, reply.message)
    if reply.code == CLOSING:
        raise Broken(outcome)
    return outcome


def _unknown(what: str) -> Uncertain:
    return Uncertain(clean(f"final dot: {what}; the message may have been taken"), phase="data")
