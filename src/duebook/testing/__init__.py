"""For the tests of an application: a clock that is moved by hand, channels that record, and asserts on stories."""

from .clock import SimClock
from .contracts import ChannelContract, Rig
from .expectation import Expectation
from .recording import Crash, RecordingChannel, Sent, accept_then
from .timeline import SyncTimeline, Timeline

__all__ = [
    "ChannelContract",
    "Crash",
    "Expectation",
    "RecordingChannel",
    "Rig",
    "Sent",
    "SimClock",
    "SyncTimeline",
    "Timeline",
    "accept_then",
]
