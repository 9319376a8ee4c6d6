"""Mattermost: what is posted, and what its answers mean."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from duebook.channels.mattermost import POST_CHARACTERS, Mattermost
from duebook.domain.outcome import Accepted
from duebook.testing.doubles import Reply

from .rooms import PATH, Room, RoomContract, chat, posted, standing
from .support import NOW, context, word


def refused(status: int, id: str) -> Reply:
    return Reply(status, {"id": id, "message": "…", "detailed_error": "", "status_code": status})


HERE = Room(Mattermost, Reply(200, "ok"), refused(400, "web.incoming_webhook.text.app_error"))


class TestContract(RoomContract):
    room = HERE


async def test_the_request() -> None:
    outcome, request = await posted(HERE, HERE.success, title="Renewal", text="Due. Write to help@example.com")
    assert outcome == Accepted()
    assert (request.method, request.target) == ("POST", PATH)
    assert request.json() == {"text": "**Renewal**\nDue. Write to help@example.com"}


@pytest.mark.parametrize("text", ["@all", "(@channel)", "x.@here", "<!channel>", "<@u1>", "_@ann", "Ü@all"])
async def test_other_peoples_text_notifies_nobody(text: str) -> None:
    _, request = await posted(HERE, HERE.success, text=text, title=text)
    written = request.json()["text"]
    assert written.replace("\u200b", "") == f"**{text}**\n{text}"
    assert all(mark not in written for mark in ("@all", "@channel", "@here", "@u1", "@ann", "<!"))


async def test_other_peoples_text_hides_no_link() -> None:
    _, request = await posted(HERE, HERE.success, text="[bank](https://evil.example) <https://evil.example|bank>")
    assert request.json()["text"] == "\\[bank\\](https://evil.example) <\u200bhttps://evil.example|bank>"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Reply(200, "ok"), "Accepted"),
        (Reply(200, "<html>"), "Uncertain"),
        (refused(400, "web.incoming_webhook.parse.app_error"), "Rejected"),
        (refused(400, "web.incoming_webhook.invalid.app_error"), "Retry"),
        (refused(403, "web.incoming_webhook.channel_locked.app_error"), "Retry"),
        (refused(404, "web.incoming_webhook.channel.app_error"), "Retry"),
        (refused(501, "web.incoming_webhook.disabled.app_error"), "Retry"),
        (refused(500, "app.post.save.app_error"), "Uncertain"),
        (Reply(413), "Rejected"),
        (Reply(502), "Uncertain"),
    ],
)
async def test_what_its_answers_mean(answer: Reply, expected: str) -> None:
    outcome, _ = await posted(HERE, answer)
    assert word(outcome) == expected


async def test_a_throttle_holds_the_channel_as_long_as_it_was_asked() -> None:
    outcome: Any
    outcome, _ = await posted(HERE, Reply(429, headers={"Retry-After": "2"}))
    assert outcome.until == NOW + timedelta(seconds=2)


async def test_what_would_become_several_posts_is_refused() -> None:
    async with standing(HERE) as (channel, double):
        assert word(await channel.send(chat(text="x" * (POST_CHARACTERS + 1)), context())) == "Rejected"
        assert double.requests == []
