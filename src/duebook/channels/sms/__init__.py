"""Text messages through Twilio, or a service with the same API.

`channel` sends, `receipts` reads what is posted back.
"""

from .channel import TwilioSms

__all__ = ["TwilioSms"]
