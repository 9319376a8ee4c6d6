"""What an adapter owes the engine, as tests to inherit for one of your own.

`store` and `queue` are imported by their own names, `from duebook.testing.contracts.store import StoreContract`, so
that pytest can explain their asserts: it has to be told of them before they are imported.
"""

from .channel import Behaviour, ChannelContract, Rig

__all__ = ["Behaviour", "ChannelContract", "Rig"]
