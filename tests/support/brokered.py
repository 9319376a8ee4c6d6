"""A crew that works with a broker."""

from contextlib import suppress
from dataclasses import dataclass, field

from duebook.domain.policy import Priority
from duebook.engine.inbox import Inbox
from duebook.engine.promoter import Promoter
from duebook.engine.receiver import Receiver
from duebook.errors import Busy, QueueUnavailable, StoreUnavailable
from duebook.ports import Queue
from tests.support.engine import Crew, Serving


@dataclass
class Brokered:
    """The agents between a crew and its broker, each taking its steps when told to."""

    crew: Crew
    queue: Queue
    receivers: list[Receiver] = field(default_factory=list)
    relieved: set[str] = field(default_factory=set)

    def lane(self, name: str = "mail", holder: str = "worker-1") -> Serving:
        inbox = Inbox(self.crew.world.registry.channels[name].policy, self.queue, self.crew.settings)
        inbox.relieved = self.relieved.add
        serving = self.crew.lane(name, holder, inbox)
        self.receivers += [Receiver(inbox, priority, serving.lane.expect) for priority in Priority]
        return serving

    @property
    def promoter(self) -> Promoter:
        w = self.crew.world
        return Promoter(self.queue, w.database, w.store, w.clock, self.crew.settings)

    async def promote(self) -> None:
        promoter = self.promoter
        while await promoter.step():
            pass

    async def receive(self) -> None:
        for receiver in self.receivers:
            with suppress(QueueUnavailable):
                await receiver.step()

    async def receive_all(self) -> None:
        """Receive and claim, again while there was room made for more."""
        while True:
            self.relieved.clear()
            await self.receive()
            for serving in self.crew.lanes:
                await serving.settle_down()
            for inbox in {receiver.inbox for receiver in self.receivers}:
                with suppress(QueueUnavailable):
                    await inbox.tell_broker()
            if not self.relieved:
                return

    async def go_on(self, seconds: int = 1) -> None:
        """Let every agent do what it does in so many seconds, a second at a time."""
        for _ in range(seconds):
            self.crew.world.clock.advance(1)
            with suppress(QueueUnavailable, StoreUnavailable, Busy):
                await self.promote()
            await self.crew.lookout.step()
            await self.receive_all()
