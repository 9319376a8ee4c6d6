"""Notifications that are due: sent once, on time, or you know why not."""

from .app.book import Duebook
from .domain.decision import Cancel, Decision, Defer, Due, Reject, Skip
from .domain.lifecycle import Event, State
from .domain.message import Email, Message, Push, Webhook
from .domain.notification import Notification
from .domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from .domain.ownership import Answer, Scheduled
from .domain.policy import ChannelPolicy, Retention
from .domain.retry import Backoff
from .domain.story import Story
from .domain.walltime import LocalTime, local
from .engine.settings import EngineSettings
from .errors import DuebookError
from .features.drafting import New
from .features.notifications import GroupAnswer
from .ports import Channel, SendContext

__all__ = [
    "Accepted",
    "Answer",
    "Backoff",
    "Cancel",
    "Channel",
    "ChannelPolicy",
    "Decision",
    "Defer",
    "Due",
    "Duebook",
    "DuebookError",
    "Email",
    "EngineSettings",
    "Event",
    "GroupAnswer",
    "LocalTime",
    "Message",
    "New",
    "Notification",
    "Outcome",
    "Push",
    "Reject",
    "Rejected",
    "Retention",
    "Retry",
    "Scheduled",
    "SendContext",
    "Skip",
    "State",
    "Story",
    "Throttled",
    "Uncertain",
    "Webhook",
    "local",
]
