"""E-mail by SMTP.

`channel` is the entrance, `connection` opens and keeps connections, `conversation` leads one message over one
of them, `replies` says what a reply means, `mime`, `headers` and `parts` write the message, `address` reads addresses.
"""

from .channel import Smtp

__all__ = ["Smtp"]
