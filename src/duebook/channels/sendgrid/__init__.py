"""E-mail through SendGrid: `channel` sends, `receipts` reads what it posts back."""

from .channel import SendGrid

__all__ = ["SendGrid"]
