"""Notifications that are due: sent once, on time, or you know why not."""

from .app.book import Duebook
from .domain.attachment import Attachment
from .domain.deadlines import Deadline
from .domain.decision import Cancel, DeadlineStep, Decision, Defer, Digest, DigestItem, Due, Reject, Skip, Unread
from .domain.lifecycle import Event, State
from .domain.message import Chat, Email, Message, Push, Sms, Webhook
from .domain.missed import Missed
from .domain.notification import Notification
from .domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from .domain.ownership import Answer, Scheduled
from .domain.people import Person
from .domain.policy import AttentionLimit, ChannelPolicy, DeadlinePolicy, DigestPolicy, Retention, UnreadPolicy
from .domain.receipt import Receipt
from .domain.recurrence import Cron, Every, Rrule
from .domain.retry import Backoff
from .domain.schedules import Schedule
from .domain.story import Story
from .domain.walltime import LocalTime, local
from .engine.settings import EngineSettings
from .errors import DuebookError
from .features.cancelling import GroupAnswer
from .features.deadlines import DeadlineAnswer, NewDeadline
from .features.digests import Added, Item
from .features.drafting import New
from .features.schedules import NewSchedule, ScheduleAnswer
from .ports import Channel, SendContext

__all__ = [
    "Accepted",
    "Added",
    "Answer",
    "Attachment",
    "AttentionLimit",
    "Backoff",
    "Cancel",
    "Channel",
    "ChannelPolicy",
    "Chat",
    "Cron",
    "Deadline",
    "DeadlineAnswer",
    "DeadlinePolicy",
    "DeadlineStep",
    "Decision",
    "Defer",
    "Digest",
    "DigestItem",
    "DigestPolicy",
    "Due",
    "Duebook",
    "DuebookError",
    "Email",
    "EngineSettings",
    "Event",
    "Every",
    "GroupAnswer",
    "Item",
    "LocalTime",
    "Message",
    "Missed",
    "New",
    "NewDeadline",
    "NewSchedule",
    "Notification",
    "Outcome",
    "Person",
    "Push",
    "Receipt",
    "Reject",
    "Rejected",
    "Retention",
    "Retry",
    "Rrule",
    "Schedule",
    "ScheduleAnswer",
    "Scheduled",
    "SendContext",
    "Skip",
    "Sms",
    "State",
    "Story",
    "Throttled",
    "Uncertain",
    "Unread",
    "UnreadPolicy",
    "Webhook",
    "local",
]
