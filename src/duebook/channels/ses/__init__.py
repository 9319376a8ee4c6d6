"""E-mail through Amazon SES: `channel` sends, `receipts` reads what it posts back."""

from .channel import Ses

__all__ = ["Ses"]
