"""Slack: what is posted, and what its answers mean."""

from __future__ import annotations

from datetime import timedelta

import pytest

from duebook.channels.slack import POST_CHARACTERS, Slack
from duebook.domain.outcome import Accepted, Throttled
from duebook.testing.doubles import Reply

from .rooms import PATH, Room, RoomContract, chat, posted, standing
from .support import NOW, context, word

HERE = Room(Slack, Reply(200, "ok"), Reply(400, "invalid_payload"))


class TestContract(RoomContract):
    room = HERE


async def test_the_request() -> None:
    outcome, request = await posted(
        HERE, HERE.success, title="Renewal", text="Due on Monday: https://example.com/r?a&b"
    )
    assert outcome == Accepted()
    assert (request.method, request.target) == ("POST", PATH)
    assert request.headers["content-type"] == "application/json"
    assert request.json() == {"text": "*Renewal*\nDue on Monday: https://example.com/r?a&amp;b"}


async def test_other_peoples_text_notifies_nobody_and_hides_no_link() -> None:
    _, request = await posted(HERE, HERE.success, text="<!channel> <https://evil.example|bank>", title="<@U1>")
    assert request.json()["text"] == "*&lt;@U1&gt;*\n&lt;!channel&gt; &lt;https://evil.example|bank&gt;"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, "ok", "Accepted"),
        (200, "<html>log in</html>", "Uncertain"),
        (400, "invalid_payload", "Rejected"),
        (400, "no_text", "Rejected"),
        (400, "user_not_found", "Retry"),
        (403, "action_prohibited", "Retry"),
        (403, "invalid_token", "Retry"),
        (404, "channel_not_found", "Retry"),
        (404, "no_service", "Retry"),
        (410, "channel_is_archived", "Retry"),
        (302, "", "Uncertain"),
        (500, "rollup_error", "Uncertain"),
        (503, "", "Uncertain"),
    ],
)
async def test_what_its_answers_mean(status: int, body: str, expected: str) -> None:
    outcome, _ = await posted(HERE, Reply(status, body))
    assert word(outcome) == expected


async def test_a_throttle_holds_the_channel_as_long_as_it_was_asked() -> None:
    outcome, _ = await posted(HERE, Reply(429, "rate_limited", {"Retry-After": "30"}))
    assert outcome == Throttled("429 Too Many Requests: rate_limited", NOW + timedelta(seconds=30))


async def test_what_slack_would_cut_off_is_refused() -> None:
    async with standing(HERE) as (channel, double):
        outcome = await channel.send(chat(text="&" * POST_CHARACTERS), context())
        assert word(outcome) == "Rejected"
        assert double.requests == []


def test_one_post_a_second_unless_another_rate_is_stated() -> None:
    url = "https://hooks.slack.com/services/T/B/x"
    assert Slack(url).policy.rate == 1.0
    assert Slack(url, rate=None).policy.rate is None
