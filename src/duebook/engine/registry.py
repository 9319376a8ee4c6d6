"""What this process can do: its kinds with their handlers, and its channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..domain.policy import ChannelPolicy, Kind
from ..ports import Channel, Handler


@dataclass(frozen=True, slots=True)
class Registry:
    """Kinds by name; handlers by kind; channels by name. Filled by the application before a worker starts."""

    kinds: dict[str, Kind] = field(default_factory=dict)
    handlers: dict[str, Handler] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)

    def served(self) -> Mapping[str, Kind]:
        """The kinds this process has a handler for."""
        return {name: self.kinds[name] for name in self.handlers}

    def policy(self, channel: str) -> ChannelPolicy | None:
        found = self.channels.get(channel)
        return found.policy if found else None
