"""Microsoft Teams: the card, and what the answers of workflows and of the older connectors mean."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from duebook.channels.teams import POST_BYTES, Teams
from duebook.domain.outcome import Accepted
from duebook.testing.doubles import Reply

from .rooms import PATH, Room, RoomContract, chat, posted, standing
from .support import NOW, context, word

HERE = Room(Teams, Reply(202), Reply(400, {"error": {"code": "TriggerInputSchemaMismatch", "message": "…"}}))


def failed(status: int) -> Reply:
    """Return what the older connectors answer to what Teams has refused."""
    words = f"Microsoft Teams endpoint returned HTTP error {status} with ContextId tcid=0,cv=x.1.0.."
    return Reply(200, f"Webhook message delivery failed with error: {words}")


class TestContract(RoomContract):
    room = HERE


async def test_the_request() -> None:
    outcome, request = await posted(
        HERE,
        Reply(202, headers={"x-ms-workflow-run-id": "0858"}),
        title="Renewal",
        text="Due: https://example.com/r\nnow",
    )
    assert outcome == Accepted("0858")
    assert (request.method, request.target) == ("POST", PATH)
    [attachment] = request.json()["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    url = "https://example.com/r"
    assert [block["inlines"] for block in attachment["content"]["body"]] == [
        [{"type": "TextRun", "text": "Renewal", "weight": "Bolder"}],
        [
            {"type": "TextRun", "text": "Due: "},
            {"type": "TextRun", "text": url, "selectAction": {"type": "Action.OpenUrl", "url": url}},
        ],
        [{"type": "TextRun", "text": "now"}],
    ]


async def test_an_empty_line_stays_a_line() -> None:
    _, request = await posted(HERE, HERE.success, text="one\n\ntwo")
    body = request.json()["attachments"][0]["content"]["body"]
    assert [block["inlines"][0]["text"] for block in body] == ["one", " ", "two"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Reply(202), "Accepted"),
        (Reply(200, "1"), "Accepted"),
        (Reply(200, ""), "Uncertain"),
        (Reply(200, "something else"), "Uncertain"),
        (failed(429), "Throttled"),
        (failed(413), "Rejected"),
        (failed(401), "Retry"),
        (failed(502), "Uncertain"),
        (Reply(400, {"error": {"code": "InvalidRequestContent"}}), "Rejected"),
        (Reply(400, {"error": {"code": "WorkflowTriggerIsNotEnabled"}}), "Retry"),
        (Reply(401, {"error": {"code": "DirectApiAuthorizationRequired"}}), "Retry"),
        (Reply(404, {"error": {"code": "WorkflowNotFound"}}), "Retry"),
        (Reply(413), "Rejected"),
        (Reply(500), "Uncertain"),
        (Reply(502, {"error": {"code": "NoResponse"}}), "Uncertain"),
    ],
)
async def test_what_its_answers_mean(answer: Reply, expected: str) -> None:
    outcome, _ = await posted(HERE, answer)
    assert word(outcome) == expected


async def test_a_throttle_holds_the_channel_as_long_as_it_was_asked() -> None:
    outcome: Any
    outcome, _ = await posted(HERE, Reply(429, headers={"Retry-After": "300"}))
    assert outcome.until == NOW + timedelta(seconds=300)


async def test_a_card_that_is_too_large_is_refused() -> None:
    async with standing(HERE) as (channel, double):
        assert word(await channel.send(chat(text="x" * POST_BYTES), context())) == "Rejected"
        assert double.requests == []
