"""Settings: of kinds, of policies, of channels, of the engine, and of the environment."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import duebook
from duebook.channels.catch_all import CatchAll
from duebook.channels.chat_room import ChatRoom
from duebook.channels.http.api import EmailApi
from duebook.channels.sms import TwilioSms
from duebook.channels.smtp import Smtp
from duebook.channels.webhook import WebhookChannel
from duebook.channels.webpush import WebPush
from duebook.domain import attachment, deciding, message, recovery, retry, text
from duebook.domain.policy import (
    AttentionLimit,
    ChannelPolicy,
    DeadlinePolicy,
    DigestPolicy,
    Kind,
    Retention,
    UnreadPolicy,
)
from duebook.domain.retry import Backoff
from duebook.engine.settings import EngineSettings
from duebook.features import drafting

from .channels import CHAT_ROOMS, EMAIL_APIS
from .declared import constructor, parameters_of, settings, shown_default, span
from .tables import table

SOURCE = Path(duebook.__file__).parent

VARIABLES = {
    "DUEBOOK_URL": "the database, for `Duebook()` without a URL and for every command without `--database`",
    "DUEBOOK_NAMESPACE": 'the namespace, for `Duebook()` without one; `"default"` if unset',
    "DUEBOOK_QUEUE": "the broker, for `Duebook()` without a queue and for every command; none if unset",
    "DUEBOOK_APP": "`module:book`, for every command without `--app` and `--database`",
}


def settings_kind() -> str:
    return settings(Kind, skip={"name", "channel"})


def settings_channel() -> str:
    return settings(ChannelPolicy, skip={"name"})


def settings_backoff() -> str:
    return settings(Backoff)


def settings_retention() -> str:
    return settings(Retention)


def settings_deadline_policy() -> str:
    return settings(DeadlinePolicy)


def settings_unread_policy() -> str:
    return settings(UnreadPolicy)


def settings_digest_policy() -> str:
    return settings(DigestPolicy)


def settings_attention_limit() -> str:
    return settings(AttentionLimit)


def settings_engine() -> str:
    return settings(EngineSettings)


def settings_smtp() -> str:
    return constructor(Smtp)


def settings_webhook() -> str:
    return constructor(WebhookChannel)


def settings_email_api() -> str:
    parameters = [each for each in parameters_of(EmailApi) if each.name != "secrets"]
    rows = [
        [f"`{each.name}`", "the provider's" if each.name == "base_url" else shown_default(each)] for each in parameters
    ]
    return f"{inspect.cleandoc(EmailApi.__doc__ or '')}\n\n{table(['argument', 'default'], rows)}"


def settings_email_apis() -> str:
    return "\n\n".join(f"### {each.__name__}\n\n{constructor(each)}" for each in EMAIL_APIS)


def settings_webpush() -> str:
    return constructor(WebPush)


def settings_sms() -> str:
    return constructor(TwilioSms)


def settings_chat_room() -> str:
    return constructor(ChatRoom)


def settings_chat_rooms() -> str:
    return "\n\n".join(f"### {each.__name__}\n\n{inspect.cleandoc(each.__doc__ or '')}" for each in CHAT_ROOMS)


def settings_catch_all() -> str:
    return constructor(CatchAll)


def settings_book() -> str:
    return constructor(duebook.Duebook)


def limits() -> str:
    rows = [
        ["name of a kind, channel, namespace or tenant", f"{text.NAME_CHARACTERS} characters"],
        ["key, group", f"{text.KEY_CHARACTERS} characters"],
        ["recipient", f"{text.RECIPIENT_CHARACTERS} characters"],
        ["reason given to a verb", f"{text.REASON_CHARACTERS:,} characters; longer is refused"],
        ["reason from a provider", f"{text.REASON_CHARACTERS:,} characters; longer is cut"],
        ["traceback of a handler", f"{text.TRACEBACK_CHARACTERS:,} characters; longer is cut"],
        ["`data`", f"{drafting.DATA_BYTES // 1024} KiB of JSON"],
        ["a rendered message", f"{message.MESSAGE_BYTES // 1024:,} KiB of JSON"],
        ["text of an SMS", f"{message.SMS_CHARACTERS:,} characters"],
        ["attachments of a mail", f"{attachment.MOST_ATTACHMENTS}"],
        ["attachments of a mail together", f"{attachment.ATTACHED_BYTES // 1_048_576} MiB"],
        ["`at`, `after`", f"{drafting.FARTHEST.days // 365} years away"],
        ["a `Defer` without `until`", span(deciding.DEFERRAL)],
        ["the smallest step of a `Defer`", span(deciding.SMALLEST_DEFERRAL)],
        ["the smallest delay of a retry", span(retry.FLOOR)],
        ["the longest `Retry-After` that is obeyed", span(retry.WISH_CEILING)],
        ["how much of a key window is left unused", span(deciding.KEY_WINDOW_MARGIN)],
        ["how often an unresolved doubt is looked at again", span(recovery.LOOK_AGAIN)],
    ]
    return table(["what", "limit"], rows)


def environment() -> str:
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    used = sorted(set(re.findall(r"DUEBOOK_[A-Z]+", source)))
    if unknown := set(used) ^ VARIABLES.keys():
        raise SystemExit(f"docs/parts/settings.py: say in VARIABLES what {', '.join(sorted(unknown))} means")
    return table(["variable", "means"], [[f"`{name}`", VARIABLES[name]] for name in used])
