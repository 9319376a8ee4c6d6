"""Discord: what is posted, and what its answers mean."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from duebook.channels.discord import POST_CHARACTERS, Discord
from duebook.domain.outcome import Accepted
from duebook.testing.doubles import HttpDouble, Reply

from .rooms import PATH, Room, RoomContract, chat, posted, standing
from .support import NOW, context, word

HERE = Room(Discord, Reply(200, {"id": "1190"}), Reply(400, {"code": 50035, "message": "Invalid Form Body"}))


class TestContract(RoomContract):
    room = HERE


async def test_the_request() -> None:
    outcome, request = await posted(HERE, HERE.success, title="Renewal")
    assert outcome == Accepted("1190")
    assert (request.method, request.target) == ("POST", f"{PATH}?wait=true")
    assert request.json() == {
        "content": "**Renewal**\nYour plan renews on Monday.",
        "allowed_mentions": {"parse": []},
    }


async def test_a_thread_in_the_url_stays_in_it() -> None:
    async with HttpDouble() as double:
        await Discord(f"{double.url}{PATH}?thread_id=7&wait=false").send(chat(), context())
        assert double.requests[0].query == {"thread_id": "7", "wait": "true"}


async def test_other_peoples_text_hides_no_link() -> None:
    _, request = await posted(HERE, HERE.success, text="[bank](https://evil.example)", title="[a](https://b.example)")
    assert request.json()["content"] == "**\\[a\\](https://b.example)**\n\\[bank\\](https://evil.example)"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, {"id": "1190"}, "Accepted"),
        (200, {}, "Uncertain"),
        (204, b"", "Uncertain"),
        (400, {"code": 50006, "message": "Cannot send an empty message"}, "Rejected"),
        (401, {"code": 50027, "message": "Invalid Webhook Token"}, "Retry"),
        (403, {"code": 50013, "message": "Missing Permissions"}, "Retry"),
        (404, {"code": 10015, "message": "Unknown Webhook"}, "Retry"),
        (413, b"", "Rejected"),
        (500, b"", "Uncertain"),
        (502, b"", "Uncertain"),
    ],
)
async def test_what_its_answers_mean(status: int, body: Any, expected: str) -> None:
    outcome, _ = await posted(HERE, Reply(status, body))
    assert word(outcome) == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "65"}, 65),
        ({"X-RateLimit-Reset-After": "2.0"}, 2),
        ({"Retry-After": "65", "X-RateLimit-Reset-After": "2.0"}, 65),
    ],
)
async def test_a_throttle_holds_the_channel_as_long_as_it_was_asked(headers: dict[str, str], seconds: int) -> None:
    outcome: Any
    outcome, _ = await posted(HERE, Reply(429, {"retry_after": 64.57, "global": False}, headers))
    assert outcome.until == NOW + timedelta(seconds=seconds)


async def test_a_post_that_is_too_long_with_its_title_is_refused() -> None:
    async with standing(HERE) as (channel, double):
        outcome = await channel.send(chat(text="x" * (POST_CHARACTERS - 5), title="abc"), context())
        assert word(outcome) == "Rejected"
        assert double.requests == []
