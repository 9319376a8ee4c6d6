"""E-mail through Mailgun: `channel` sends, `receipts` reads what it posts back."""

from .channel import Mailgun

__all__ = ["Mailgun"]
