"""JSON to other systems over HTTP, signed by the Standard Webhooks specification.

`channel` is the entrance, `guard` decides where we may connect, `request` writes and signs, `exchange` sends
once and knows what left, `verdict` says what an answer means.
"""

from .channel import WebhookChannel

__all__ = ["WebhookChannel"]
