"""What stands for three providers: a line of JSON in a file for each message that they take.

`LESSONS_DOWN` names one that is down. It takes nothing, and says so at once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from duebook import Accepted, Outcome, Retry, SendContext

FILE = Path(os.environ.get("LESSONS_OUTBOX", "outbox.jsonl"))


def deliver(channel: str, to: str, says: str, context: SendContext) -> Outcome:
    """Make one attempt over a channel, and answer what is known of it."""
    if os.environ.get("LESSONS_DOWN") == channel:
        return Retry(f"the {channel} provider is down")
    line = {"at": f"{context.now:%H:%M:%S}", "channel": channel, "to": to, "says": says}
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    return Accepted()
