"""Mattermost's incoming webhooks.

https://developers.mattermost.com/integrate/webhooks/incoming/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..domain.message import Chat
from ..domain.outcome import Accepted, Outcome
from .chat_room import ChatRoom, at_most, titled
from .http.answer import Answer
from .http.meaning import Refusals
from .http.waiting import wanted_at
from .markdown import without_links

POST_CHARACTERS = 16_383
"""Mattermost makes several posts of what is longer, and some of them might fail."""

# It reads `<!channel>`, `<@user>` and `<URL|other words>` as Slack does, and takes no backslash before them.
_NOTIFIES = re.compile(r"(?<![A-Za-z0-9])@(?=\w)|<(?=\S)")
_APART = "\N{ZERO WIDTH SPACE}"


class Mattermost(ChatRoom):
    """Posts to the channel of a Mattermost server that the webhook was made for.

    A space without width after `@` and `<` keeps a text from notifying people; an e-mail address stays as it is. The
    errors are those of `HandleIncomingWebhook` in the server's source: a webhook that is unknown or switched off is a
    fault of the settings, so it is Retry, and the post ends in review.
    """

    service = "mattermost"
    refusals = Refusals(
        page="https://github.com/mattermost/mattermost/blob/master/server/channels/app/webhook.go",
        codes={
            "web.incoming_webhook.disabled.app_error": "account",
            "web.incoming_webhook.invalid.app_error": "account",
            "web.incoming_webhook.user.app_error": "account",
        },
        statuses={
            400: "message",
            401: "account",
            403: "account",
            404: "account",
            413: "message",
            429: "throttle",
        },
    )

    def document(self, message: Chat) -> Mapping[str, Any]:
        text = titled(message.title and _plain(message.title), _plain(message.text), "**")
        return {"text": at_most(POST_CHARACTERS, text)}

    def read(self, answer: Answer, now: datetime) -> Outcome:
        if answer.status == 200 and answer.body.strip() == b"ok":
            return Accepted()
        return self.refusals.outcome(answer, answer.field("id"), wanted_at(answer, now))


def _plain(text: str) -> str:
    return _NOTIFIES.sub(rf"\g<0>{_APART}", without_links(text))
