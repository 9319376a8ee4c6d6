"""E-mail through Brevo: `channel` sends, `receipts` reads what it posts back."""

from .channel import Brevo

__all__ = ["Brevo"]
