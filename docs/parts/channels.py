"""Channels and queues: what each can do, and what its provider says."""

from __future__ import annotations

import runpy
from pathlib import Path

from duebook.channels.brevo import Brevo
from duebook.channels.capabilities import Capabilities
from duebook.channels.catch_all import CatchAll
from duebook.channels.chat_room import ChatRoom
from duebook.channels.console import ConsoleChannel
from duebook.channels.discord import Discord
from duebook.channels.file import FileChannel
from duebook.channels.function import FunctionChannel
from duebook.channels.http.api import EmailApi
from duebook.channels.http.meaning import Meaning
from duebook.channels.mailgun import Mailgun
from duebook.channels.mattermost import Mattermost
from duebook.channels.postmark import Postmark
from duebook.channels.resend import Resend
from duebook.channels.sendgrid import SendGrid
from duebook.channels.ses import Ses
from duebook.channels.slack import Slack
from duebook.channels.sms import TwilioSms
from duebook.channels.smtp import Smtp
from duebook.channels.teams import Teams
from duebook.channels.webhook import WebhookChannel
from duebook.channels.webpush import WebPush
from duebook.queues.http import HttpQueue
from duebook.queues.nats import NatsQueue
from duebook.queues.rabbitmq import RabbitmqQueue
from duebook.queues.redis import RedisQueue
from duebook.queues.servicebus import ServiceBusQueue
from duebook.queues.sqs import SqsQueue

from .declared import constructor, parameters_of, span
from .tables import table

TESTS = Path(__file__).parents[2] / "tests"

EMAIL_APIS: tuple[type[EmailApi], ...] = (Resend, Postmark, SendGrid, Mailgun, Ses, Brevo)
CHAT_ROOMS: tuple[type[ChatRoom], ...] = (Slack, Mattermost, Discord, Teams)
REFUSING: tuple[type[EmailApi | TwilioSms | ChatRoom], ...] = (*EMAIL_APIS, TwilioSms, *CHAT_ROOMS)
LOCAL = (FileChannel, ConsoleChannel, FunctionChannel)

MEANINGS_OF_REFUSALS: dict[Meaning, str] = {
    "message": "`Rejected`",
    "account": "`Retry`: it refuses us, not the message",
    "unsent": "`Retry`: it did not take the message",
    "throttle": "`Throttled`",
    "unknown": "`Uncertain`",
}


def channel_capabilities() -> str:
    rows = []
    for kind in (*EMAIL_APIS, Smtp, WebPush, TwilioSms, *CHAT_ROOMS, CatchAll, WebhookChannel, *LOCAL):
        can: Capabilities = getattr(kind, "capabilities", Capabilities())
        stated = {"key_window", "policy"} & {each.name for each in parameters_of(kind)}
        rows.append([
            f"`{kind.__name__}`",
            "as you state" if stated else span(can.key_window) if can.key_window else "no",
            str(can.key_characters or ""),
            can.looked_up_by,
            "yes" if can.absence_is_proof else "no",
            can.receipts or "none",
            can.server_errors,
            "yes" if can.attachments else "no",
        ])  # fmt: skip
    headers = [
        "channel", "a repeat makes no second copy", "longest key", "looked up by", "absence is proof",
        "receipts verified by", "its 5xx", "attachments",
    ]  # fmt: skip
    return table(headers, rows)


def provider_matrix() -> str:
    """Return the table that tests/channels/test_http_matrix.py forces."""
    matrix = runpy.run_path(str(TESTS / "channels/http_matrix.py"))
    return table(["", *matrix["PROVIDERS"]], [[phase, *outcomes] for phase, outcomes in matrix["rows"]()])


def provider_errors() -> str:
    parts = []
    for each in REFUSING:
        codes = [[f"`{code}`", MEANINGS_OF_REFUSALS[meaning]] for code, meaning in each.refusals.codes.items()]
        statuses = [[f"HTTP {status}", MEANINGS_OF_REFUSALS[said]] for status, said in each.refusals.statuses.items()]
        parts.append(f"### {each.__name__}\n\n<{each.refusals.page}>\n\n{table(['error', 'means'], codes + statuses)}")
    return "\n\n".join(parts)


def queue_constructors() -> str:
    parts = []
    for kind in (RedisQueue, RabbitmqQueue, NatsQueue, SqsQueue, ServiceBusQueue, HttpQueue):
        package = kind.__module__.removesuffix(".queue")
        parts.append(f"## {kind.__name__}\n\n`from {package} import {kind.__name__}`\n\n{constructor(kind)}")
    return "\n\n".join(parts)
