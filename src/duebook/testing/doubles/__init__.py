"""Providers to test channels against: real servers on loopback that do what a test says and record what they accepted.

`HttpDouble` speaks HTTP and `SmtpDouble` speaks SMTP. `post_receipt` posts what providers post back.
"""

from .faults import Drop, Hang
from .http import HttpDouble
from .http_messages import DropUnread, HttpRequest, Raw, Reply
from .receipts import post_receipt
from .smtp import SmtpDouble
from .smtp_messages import Mail, Say

__all__ = [
    "Drop",
    "DropUnread",
    "Hang",
    "HttpDouble",
    "HttpRequest",
    "Mail",
    "Raw",
    "Reply",
    "Say",
    "SmtpDouble",
    "post_receipt",
]
