"""Slack's incoming webhooks.

https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Unpack

from ..domain.message import Chat
from ..domain.outcome import Accepted, Outcome
from .chat_room import ChatRoom, RoomSettings, at_most, titled
from .http.answer import Answer
from .http.meaning import Refusals
from .http.waiting import wanted_at

POST_CHARACTERS = 40_000
"""Slack cuts off what is longer: https://docs.slack.dev/changelog/2018-04-truncating-really-long-messages"""

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Slack(ChatRoom):
    """Posts to the channel of a Slack workspace that the webhook was made for.

    `&`, `<` and `>` are written as entities, so that no text notifies `<!channel>` or links `<URL|other words>`
    (https://docs.slack.dev/messaging/formatting-message-text). Slack wants one post a second for each webhook
    (https://docs.slack.dev/apis/web-api/rate-limits), which is the `rate` unless another is stated. A missing or
    archived room is a fault of the settings, so it is Retry, and the post ends in review. Of `rollup_error`, its 500,
    Slack says no more than that "something strange and unusual happened": Uncertain.
    """

    service = "slack"
    refusals = Refusals(
        page="https://docs.slack.dev/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks",
        codes={"user_not_found": "account"},
        statuses={
            400: "message",
            403: "account",
            404: "account",
            410: "account",
            413: "message",
            429: "throttle",
        },
    )

    def __init__(self, url: str, **settings: Unpack[RoomSettings]) -> None:
        settings.setdefault("rate", 1.0)
        super().__init__(url, **settings)

    def document(self, message: Chat) -> Mapping[str, Any]:
        text = titled(message.title, message.text, "*").translate(_ENTITIES)
        return {"text": at_most(POST_CHARACTERS, text)}

    def read(self, answer: Answer, now: datetime) -> Outcome:
        word = answer.body.decode("utf-8", "replace").strip()
        if answer.status == 200 and word == "ok":
            return Accepted()
        return self.refusals.outcome(answer, word, wanted_at(answer, now))
