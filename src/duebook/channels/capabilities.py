"""What can be known of a message after it left, as its provider documents it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

LookedUpBy = Literal["nothing", "our metadata", "our Message-ID", "the provider's id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an adapter can say. The defaults are those of a channel that knows nothing once a message has left.

    `key_window`: how long a repeated idempotency key makes no second copy; None says for no time. `key_characters`: the
    longest key. `looked_up_by`: by what a message is found that may have been accepted. `absence_is_proof`: a message
    that is not found was not taken. `receipts`: how what the provider posts back is verified; empty: nothing is read.
    `server_errors`: what its 5xx mean. `attachments`: an Email's are sent with it.
    """

    key_window: timedelta | None = None
    key_characters: int | None = None
    looked_up_by: LookedUpBy = "nothing"
    absence_is_proof: bool = False
    receipts: str = ""
    server_errors: str = ""
    attachments: bool = False
