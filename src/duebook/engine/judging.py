"""The judgement of a lane: from what a handler or a channel answered, or raised, to the move it makes.

No state and no waiting: whatever people's code hands back, something sensible is recorded, and it costs the record of
nobody else.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection, Mapping
from datetime import datetime

from ..domain import deciding, settling
from ..domain.decision import Elsewhere
from ..domain.message import Message
from ..domain.notification import Intent, Move, Notification
from ..domain.outcome import Outcome, Uncertain, from_exception
from ..domain.policy import ChannelPolicy, Kind, Mode
from ..errors import InvalidMessage
from ..ports import Draw, Finished, Overran
from .settings import EngineSettings

TRACEBACK_LINES = 12


class Judge:
    """`channels`: the names a message may be moved to."""

    def __init__(
        self,
        policy: ChannelPolicy,
        kinds: Mapping[str, Kind],
        channels: Collection[str],
        settings: EngineSettings,
        draw: Draw,
        holder: str,
    ) -> None:
        self.policy = policy
        self.kinds = kinds
        self.channels = channels
        self.settings = settings
        self.draw = draw
        self.holder = holder

    def decided(self, n: Notification, item: Finished, mode: Mode, now: datetime) -> Move | Message:
        """Return the message a handler wants sent over this channel, or the move its answer makes."""
        if item.error is not None:
            return self.failed(n, item.error, now)
        answer = item.result
        try:
            if isinstance(answer, Message | Elsewhere) and answer.channel not in (None, *self.channels):
                raise InvalidMessage("channel", f"{answer.channel!r} is not registered with this worker")
            return deciding.judge(n, answer, self.kinds[n.kind], mode, now, self.holder)
        except (TypeError, InvalidMessage) as error:
            return self.failed(n, error, now)

    def failed(self, n: Notification, error: BaseException, now: datetime) -> Move:
        """Return the move of a handler that raised, overran its time or answered nonsense."""
        kind = self.kinds[n.kind]
        if isinstance(error, Overran):
            detail = f"the handler took longer than {kind.handler_seconds:g} s"
        else:
            detail = "".join(traceback.format_exception(error)[-TRACEBACK_LINES:])
        return deciding.failed(n, error, detail, kind, now, self.holder, self.draw())

    def outcome(self, item: Finished) -> Outcome:
        """Return what is known of an attempt that ended."""
        if isinstance(item.error, Overran):
            return Uncertain(f"no answer within {self.policy.send_seconds:g} s", phase="overrun")
        if item.error is not None:
            return from_exception(item.error)
        if not isinstance(item.result, Outcome):
            return Uncertain(f"the channel answered {type(item.result).__name__}, which is no outcome", "answer")
        found: Outcome = item.result
        return found

    def settled(self, intent: Intent, outcome: Outcome, now: datetime) -> Move:
        """Return the move an outcome makes; of one that cannot be read, that of uncertainty."""
        kind = self.kinds[intent.notification.kind]
        quiet = self.settings.quiet(self.policy)
        try:
            return settling.settle(intent, outcome, kind, self.policy, now, self.draw(), quiet)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            unread = Uncertain(f"the channel's answer cannot be read: {error}", "answer")
            return settling.settle(intent, unread, kind, self.policy, now, self.draw(), quiet)
