"""Redis, or a server that speaks its language."""

from .queue import RedisQueue

__all__ = ["RedisQueue"]
