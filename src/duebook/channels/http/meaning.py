"""What a provider means by a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ...domain.outcome import Outcome, Rejected, Retry, Throttled, Uncertain
from .answer import Answer

Meaning = Literal["message", "account", "unsent", "throttle", "unknown"]
"""`message`: it refuses this message or address for good. `account`: it refuses us, our key, our sender or our plan,
and the message is fine. `unsent`: it did not take the message, and may take it later. `throttle`: it wants less.
`unknown`: it may have taken the message."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """A provider's answers other than success, as the `page` of its documentation explains them.

    `codes`: by the name or number in the body, which says more than the status. `statuses`: by HTTP status. What is in
    neither is unknown.
    """

    page: str
    codes: Mapping[str, Meaning]
    statuses: Mapping[int, Meaning]

    def outcome(self, answer: Answer, code: str | None = None, until: datetime | None = None) -> Outcome:
        """Return what an answer with this code means. `until`: before when the provider wants no other call."""
        meaning = self.codes.get(code or "") or self.statuses.get(answer.status, "unknown")
        reason = str(answer)
        match meaning:
            case "message":
                return Rejected(reason)
            case "account":
                return Retry(f"{reason} (it refuses this account or its settings, not the message)")
            case "unsent":
                return Retry(reason)
            case "throttle":
                return Throttled(reason, until)
            case "unknown":
                return Uncertain(reason, phase="reply")
