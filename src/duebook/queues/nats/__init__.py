"""The queue on NATS JetStream. `jetstream` talks to a server, `queue` knows what to say."""

from .queue import NatsQueue as NatsQueue
