"""JSON to other systems over HTTP, signed by the Standard Webhooks specification.

`channel` is the entrance, `guard` decides where we may connect, `request` writes and signs, `verdict` says what an
answer means. The call itself is made by `channels/http`.
"""

from .channel import WebhookChannel

__all__ = ["WebhookChannel"]
