"""A chat room in front of a double, and the contract of its channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from duebook.channels.chat_room import ChatRoom
from duebook.domain.message import Chat, Message
from duebook.testing import ChannelContract, Rig
from duebook.testing.contracts import Behaviour
from duebook.testing.doubles import Drop, Hang, HttpAnswer, HttpDouble, HttpRequest, Reply

from .support import context, webhook

PATH = "/hooks/s3cret-token"


@dataclass(frozen=True)
class Room:
    """`build`: makes the channel from a URL. `success`, `refusal`: how the room takes a post, and refuses one."""

    build: Callable[..., ChatRoom]
    success: Reply
    refusal: Reply


def chat(**changes: Any) -> Chat:
    return Chat(**{"text": "Your plan renews on Monday.", **changes})


@asynccontextmanager
async def standing(room: Room, *answers: HttpAnswer) -> AsyncIterator[tuple[ChatRoom, HttpDouble]]:
    """Give a channel and the double it posts to. The first posts get these answers, all others are taken."""
    async with HttpDouble(lambda request: room.success) as double:
        double.next(*answers)
        yield room.build(double.url + PATH), double


async def posted(room: Room, answer: HttpAnswer, **changes: Any) -> tuple[Any, HttpRequest]:
    """Post once and return the outcome with the request."""
    async with standing(room, answer) as (channel, double):
        return await channel.send(chat(**changes), context()), double.requests[0]


class RoomContract(ChannelContract):
    """The contract of a channel, for one of the rooms."""

    room: ClassVar[Room]

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        first: dict[Behaviour, Sequence[HttpAnswer]] = {
            "accepts": [], "refuses": [self.room.refusal], "breaks": [Drop(take=True)], "hangs": [Hang(take=True)],
        }  # fmt: skip
        async with standing(self.room, *first[provider]) as (channel, double):
            yield Rig(channel, lambda: [None for _ in double.requests], lambda: double.until(lambda: double.requests))

    def message(self) -> Message:
        return chat()

    def foreign(self) -> Message:
        return webhook()
