"""The acknowledger: tells the broker what became of its messages, beside the lane, so that no send waits for that.

A message is done with when the store has the claim, for from then on the lease protects the notification; or when there
is nothing to claim.
"""

from __future__ import annotations

from .inbox import Inbox


def acknowledger_name(channel: str) -> str:
    return f"acknowledger of {channel}"


class Acknowledger:
    # It is roused when there is something to tell.
    pace_seconds = 10.0

    def __init__(self, inbox: Inbox) -> None:
        self.name = acknowledger_name(inbox.channel)
        self.inbox = inbox

    async def step(self) -> bool:
        await self.inbox.tell_broker()
        return False
