"""E-mail through Postmark: `channel` sends, `receipts` reads what it posts back."""

from .channel import Postmark

__all__ = ["Postmark"]
