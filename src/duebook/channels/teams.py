"""Microsoft Teams, by webhooks of the Workflows app.

https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..domain.message import Chat
from ..domain.outcome import Accepted, Outcome
from ..errors import InvalidMessage
from .chat_room import ChatRoom
from .http.answer import Answer
from .http.call import json_body
from .http.meaning import Refusals
from .http.waiting import wanted_at

POST_BYTES = 28 * 1024
"""https://learn.microsoft.com/microsoftteams/limits-specifications-teams"""

_URL = re.compile(r"(https?://[^\s<>\"]+)")
_HIDDEN_STATUS = re.compile(rb"endpoint returned HTTP error ([0-9]{3})")


class Teams(ChatRoom):
    """Posts an Adaptive Card by the URL of a workflow "When a Teams webhook request is received".

    202 says that a run of the workflow has begun, which is all that it says: whether the run ends in a post is seen in
    Power Automate. URLs of the older connectors answer 200 to what has failed, too, with the true status in the body;
    of them only a number in the body says that it was posted
    (https://github.com/MicrosoftDocs/msteams-docs/issues/9698). A workflow that was deleted or switched off is a fault
    of the settings: Retry. The text is written as TextRuns, in which Markdown means nothing and nobody is mentioned
    (https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features).
    """

    service = "teams"
    refusals = Refusals(
        page="https://learn.microsoft.com/azure/connectors/connectors-native-reqres",
        codes={"WorkflowTriggerIsNotEnabled": "account"},
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

    def document(self, message: Chat) -> Mapping[str, Any]:
        lines = [_line(line) for line in message.text.splitlines()]
        body = lines if message.title is None else [_line(message.title, weight="Bolder"), *lines]
        card = {
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
            "type": "AdaptiveCard",
            "version": "1.2",
            "body": body,
        }
        attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
        document = {"type": "message", "attachments": [attachment]}
        size = len(json_body(document))
        if size > POST_BYTES:
            raise InvalidMessage("text", f"makes a card of {size:,} bytes; this room takes {POST_BYTES:,}")
        return document

    def read(self, answer: Answer, now: datetime) -> Outcome:
        if answer.status == 202:
            return Accepted(answer.headers.get("x-ms-workflow-run-id"))
        if answer.status == 200 and answer.body.strip().isdigit():
            return Accepted()
        if answer.status == 200 and (true := _HIDDEN_STATUS.search(answer.body)):
            answer = replace(answer, status=int(true[1]))
        return self.refusals.outcome(answer, _code(answer), wanted_at(answer, now))


def _line(text: str, **style: str) -> dict[str, Any]:
    """Return one line of text, in which URLs can be followed."""
    runs = [_run(part) | style for part in _URL.split(text) if part]
    return {"type": "RichTextBlock", "spacing": "None", "inlines": runs or [_run(" ")]}


def _run(text: str) -> dict[str, Any]:
    run = {"type": "TextRun", "text": text}
    return {**run, "selectAction": {"type": "Action.OpenUrl", "url": text}} if _URL.fullmatch(text) else run


def _code(answer: Answer) -> str | None:
    match answer.json():
        case {"error": {"code": str(code)}}:
            return code
    return None
