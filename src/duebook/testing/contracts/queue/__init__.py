"""What a queue owes the engine, as tests to inherit for a queue of your own.

The modules beside this one are its chapters. A broker's clock is its own, so the clauses about delays and holding wait
in real time: each takes a few seconds.
"""

from .carrying import Carrying
from .clauses import SECRET, Broker
from .delaying import Delaying
from .failing import Failing
from .hostile import HostileQueue
from .returning import Returning
from .working import Working


class QueueContract(Carrying, Delaying, Returning, Failing, Working):
    """Inherit it as `class TestMyQueue(QueueContract)` and write `open`, a context that yields a Broker, and
    `unreachable`. Each clause is a plain test that enters the context in an event loop of its own.

    `durable`: whether the broker keeps over a restart what it was given.
    """


__all__ = ["SECRET", "Broker", "HostileQueue", "QueueContract"]
