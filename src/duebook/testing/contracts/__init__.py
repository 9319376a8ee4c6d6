"""What an adapter owes the engine, as tests to inherit for one of your own.

`store` is imported by its own name, `from duebook.testing.contracts.store import StoreContract`, so that pytest can
explain its asserts: it has to be told of them before they are imported.
"""

from .channel import Behaviour, ChannelContract, Rig

__all__ = ["Behaviour", "ChannelContract", "Rig"]
