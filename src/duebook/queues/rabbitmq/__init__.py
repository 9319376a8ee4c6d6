"""The queue on RabbitMQ. `ladder` is how it delays, `link` a connection with what it holds, `queue` the adapter."""

from .queue import RabbitmqQueue as RabbitmqQueue
