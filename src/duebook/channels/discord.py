"""Discord's webhooks.

https://docs.discord.com/developers/resources/webhook#execute-webhook
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
from .markdown import without_links

POST_CHARACTERS = 2_000


class Discord(ChatRoom):
    """Posts to the channel of a Discord server that the webhook was made for.

    It asks to wait, because without that Discord answers before it has saved a post, and "a message that is not saved
    does not return an error". `allowed_mentions` is empty, so that no text notifies anybody. Discord enforces no nonce
    for webhooks, so it knows no repeats. A webhook that was deleted is a fault of the settings: Retry.
    """

    service = "discord"
    refusals = Refusals(
        page="https://docs.discord.com/developers/topics/opcodes-and-status-codes",
        codes={},
        statuses={
            400: "message",
            401: "account",
            403: "account",
            404: "account",
            405: "account",
            413: "message",
            429: "throttle",
        },
    )

    def __init__(self, url: str, **settings: Unpack[RoomSettings]) -> None:
        super().__init__(url, **settings)
        self._url = self._url.copy_merge_params({"wait": "true"})

    def document(self, message: Chat) -> Mapping[str, Any]:
        text = titled(message.title and without_links(message.title), without_links(message.text), "**")
        return {"content": at_most(POST_CHARACTERS, text), "allowed_mentions": {"parse": []}}

    def read(self, answer: Answer, now: datetime) -> Outcome:
        id = answer.field("id")
        if answer.status == 200 and id is not None:
            return Accepted(id)
        # https://docs.discord.com/developers/topics/rate-limits
        return self.refusals.outcome(answer, None, wanted_at(answer, now, seconds="x-ratelimit-reset-after"))
