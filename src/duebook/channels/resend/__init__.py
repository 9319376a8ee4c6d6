"""E-mail through Resend: `channel` sends, `receipts` reads what it posts back."""

from .channel import Resend

__all__ = ["Resend"]
