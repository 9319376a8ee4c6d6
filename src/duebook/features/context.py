"""What every verb knows: who it works for, what is declared, and how to read the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..domain import control
from ..domain.policy import Kind
from ..errors import UnknownName
from ..ports import Clock, Store


@dataclass(frozen=True, slots=True)
class Context:
    """What every verb knows: who it works for, and how to read the time."""

    namespace: str
    kinds: Mapping[str, Kind]
    store: Store
    clock: Clock
    by: str = "app"
    channels: Mapping[str, object] = field(default_factory=dict)

    def scope(self, channel: str | None, kind: str | None) -> str:
        """Return the scope of a channel, a kind or everything, if this program knows it."""
        if kind is not None:
            self.kind(kind)
        known = {*self.channels, *(channel for one in self.kinds.values() for channel in one.able)}
        if channel is not None and channel not in known:
            raise UnknownName("channel", channel, known)
        return control.scope(channel=channel, kind=kind)

    def kind(self, name: str) -> Kind:
        try:
            return self.kinds[name]
        except (KeyError, TypeError):
            raise UnknownName("kind", str(name), self.kinds) from None
