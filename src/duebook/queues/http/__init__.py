"""A queue that is spoken to over HTTP."""

from .queue import HttpQueue

__all__ = ["HttpQueue"]
