"""Providers to test channels against: real servers on loopback that do what a test says and record what they accepted.

`HttpDouble` speaks HTTP and `SmtpDouble` speaks SMTP. `post_receipt` posts what providers post back.
"""

from .faults import Drop, Hang
from .http import HttpAnswer, HttpBehaviour, HttpDouble
from .http_messages import DropUnread, HttpRequest, Raw, Reply
from .receipts import post_receipt
from .smtp import SmtpBehaviour, SmtpDouble, SmtpStep
from .smtp_messages import Mail, Phase, Say

__all__ = [
    "Drop",
    "DropUnread",
    "Hang",
    "HttpAnswer",
    "HttpBehaviour",
    "HttpDouble",
    "HttpRequest",
    "Mail",
    "Phase",
    "Raw",
    "Reply",
    "Say",
    "SmtpBehaviour",
    "SmtpDouble",
    "SmtpStep",
    "post_receipt",
]
