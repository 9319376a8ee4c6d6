"""What all e-mail APIs refuse to be set up with, and how they write addresses."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from duebook.channels.http import client
from duebook.channels.http.answer import Answer
from duebook.channels.http.call import Call
from duebook.channels.http.mailbox import Mailbox, sender
from duebook.channels.http.waiting import wanted_at
from duebook.channels.mailgun import Mailgun
from duebook.channels.resend import Resend
from duebook.channels.sendgrid import receipts as sendgrid_receipts
from duebook.channels.ses import Ses, sns
from duebook.channels.ses import receipts as ses_receipts
from duebook.domain.attachment import Attachment
from duebook.domain.outcome import Rejected
from duebook.errors import InvalidInput, MissingExtra

from .providers import PROVIDERS, SECRET, SENDER, Provider, standing
from .support import NOW, context, email

EVERY = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"base_url": "http://api.example.com"}, "base_url"),
        ({"base_url": "https://key@api.example.com"}, "base_url"),
        ({"base_url": "https://api.example.com/?key=1"}, "base_url"),
        ({"base_url": "ftp://api.example.com"}, "base_url"),
        ({"base_url": "https://[::1"}, "base_url"),
        ({"connect_seconds": 0}, "connect_seconds"),
        ({"connect_seconds": 40}, "connect_seconds"),
        ({"concurrency": 0}, "concurrency"),
        ({"sender_name": "two\nlines"}, "sender_name"),
        ({"name": "two words"}, "channel"),
    ],
)
@EVERY
def test_settings_that_cannot_work(provider: Provider, settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        provider.build(**settings)
    assert error.value.field == field


@pytest.mark.parametrize("key", ["", "two\r\nlines", "ключ"])
def test_keys_that_fit_no_header(key: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Resend(key, sender=SENDER)
    assert error.value.field == "api_key"
    assert not key or key not in str(error.value)


def test_names_that_would_change_the_url() -> None:
    with pytest.raises(InvalidInput, match="domain"):
        Mailgun(SECRET, "example.com/other", sender=SENDER)
    with pytest.raises(InvalidInput, match="region"):
        Ses("eu-west-1.evil.example/", "AKID", SECRET, sender=SENDER)


@EVERY
def test_without_an_http_library_it_names_what_to_install(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"duebook\[http\]"):
        provider.build()


def test_without_cryptography_nothing_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sendgrid_receipts, sns):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"duebook\[receipts\]"):
        sendgrid_receipts.parse({}, b"[]", ["key"], NOW)
    posted = json.dumps({"TopicArn": "t", "Type": "Notification", "Signature": "AAAA"}).encode()
    with pytest.raises(MissingExtra, match=r"duebook\[receipts\]"):
        ses_receipts.parse(posted, ["t"], b"", NOW)


@EVERY
async def test_a_message_with_attachments_is_not_sent_without_them(provider: Provider) -> None:
    async with standing(provider) as (channel, double):
        file = Attachment.of(b"%PDF", name="bill.pdf", media_type="application/pdf", source="bills", reference="7")
        outcome = await channel.send(email(attachments=[file]), context())
        assert isinstance(outcome, Rejected)
        assert "attachments" in outcome.reason
        assert double.requests == []


@EVERY
def test_secrets_stay_out_of_its_text(provider: Provider) -> None:
    channel = provider.build()
    assert repr(channel) == f"{type(channel).__name__}(name='email')"


@EVERY
def test_a_request_prints_without_its_headers(provider: Provider) -> None:
    call = provider.build().call("POST", "/secret-path", {"Authorization": SECRET})
    assert isinstance(call, Call)
    assert "secret" not in repr(call)
    assert SECRET not in repr(call)


@EVERY
def test_what_it_declares_is_its_policy(provider: Provider) -> None:
    channel = provider.build()
    assert channel.policy.key_window == channel.capabilities.key_window


@pytest.mark.parametrize(
    ("mailbox", "written"),
    [
        (Mailbox("ann@example.net"), "ann@example.net"),
        (Mailbox("ann@example.net", "Ann"), '"Ann" <ann@example.net>'),
        (Mailbox("ann@example.net", 'Ann "A", B\\C'), '"Ann \\"A\\", B\\\\C" <ann@example.net>'),
        (Mailbox("ann@example.net", "Ännchen"), '"Ännchen" <ann@example.net>'),
    ],
)
def test_how_a_mailbox_is_written(mailbox: Mailbox, written: str) -> None:
    assert str(mailbox) == written


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Mailbox("us@example.com", "Us")),
        ({"sender_name": "Billing"}, Mailbox("us@example.com", "Billing")),
        ({"sender": "b@example.com"}, Mailbox("b@example.com")),
        ({"sender": "b@example.com", "sender_name": "Billing"}, Mailbox("b@example.com", "Billing")),
    ],
)
def test_who_a_message_is_from(changes: dict[str, str], expected: Mailbox) -> None:
    assert sender(email(**changes), Mailbox("us@example.com", "Us")) == expected


class TestWhenTheNextCallIsWanted:
    def wanted(self, headers: dict[str, str], **names: str) -> Any:
        return wanted_at(Answer(429, headers), NOW, **names)

    def test_retry_after_goes_first(self) -> None:
        assert self.wanted({"retry-after": "5", "reset": "9"}, seconds="reset") == NOW + timedelta(seconds=5)

    def test_seconds(self) -> None:
        assert self.wanted({"reset": "9"}, seconds="reset") == NOW + timedelta(seconds=9)

    def test_an_instant(self) -> None:
        reset = str(int(NOW.timestamp()) + 60)
        assert self.wanted({"reset": reset}, epoch="reset") == NOW + timedelta(seconds=60)

    @pytest.mark.parametrize("value", ["", "soon", "-1", "0", "1" * 40])
    def test_an_instant_that_is_none_or_over(self, value: str) -> None:
        assert self.wanted({"reset": value}, epoch="reset") is None

    def test_an_instant_years_ahead_is_capped(self) -> None:
        reset = str(int(NOW.timestamp()) + 10**8)
        assert self.wanted({"reset": reset}, epoch="reset") == NOW + timedelta(hours=24)
