"""The receivers, in a process of their own: an HTTP provider that knows keys, and a mail server that does not.

Run as `python receivers.py ANSWER_SECONDS SILENT_EVERY`. Each answer takes so long, and one message of so many is taken
without an answer; 0: at once, and none. It says its ports, and then answers each command by one line of JSON:

    hang COUNT AFTER    COUNT messages, AFTER more have come, are never answered; every second is accepted all the same
    hold COUNT AFTER    they are answered, and accepted, when they are released
    release
    more COUNT          waits until each receiver has got so many more
    troubled            waits until all that were to hang or to be held do
    tell                what each has accepted, and how many it took in silence
"""

import asyncio
import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from duebook.testing.doubles import Drop, Hang, HttpAnswer, HttpDouble, HttpRequest, Mail, Phase, SmtpDouble, SmtpStep

A = TypeVar("A")
DAY = timedelta(hours=24)


@dataclass
class Manner:
    """How one receiver treats its messages. `silenced`: how many were taken and got no answer, other than hanging."""

    answer_seconds: float
    silent_every: int
    received: int = 0
    silenced: int = 0
    troubled: int = 0
    trouble: str = ""
    troubles: range = range(0)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def plan(self, trouble: str, count: int, after: int) -> None:
        first = self.received + after + 1
        self.trouble, self.troubles, self.troubled = trouble, range(first, first + count), 0
        self.released.clear()

    async def treat(self, good: A) -> A | Drop | Hang:
        """Return what one more message meets; `good` is what would take it."""
        self.received += 1
        number = self.received
        if number in self.troubles:
            self.troubled += 1
            if self.trouble == "hang":
                return Hang(take=number % 2 == 0)
            await self.released.wait()
        elif self.silent_every and number % self.silent_every == 0:
            self.silenced += 1
            return Drop(take=True)
        if self.answer_seconds:
            await passed(self.answer_seconds)
        return good


async def passed(seconds: float) -> None:
    """Be as slow as real providers are: then many sends are on the wire at any moment."""
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), seconds)


class Receivers:
    def __init__(self, answer_seconds: float, silent_every: int) -> None:
        self.http = HttpDouble(self._hook, key_window=DAY)
        self.smtp = SmtpDouble(self._mail)
        self.hooks, self.mails = (Manner(answer_seconds, silent_every) for _ in range(2))

    async def _hook(self, request: HttpRequest) -> HttpAnswer:
        return await self.hooks.treat(self.http.answer(request))

    async def _mail(self, phase: Phase, mail: Mail) -> SmtpStep:
        good = self.smtp.step(phase, mail)
        return await self.mails.treat(good) if phase == "dot" else good

    async def obey(self, command: str, *words: str) -> Any:
        match command:
            case "hang" | "hold":
                count, after = map(int, words)
                self.hooks.plan(command, count, after)
                self.mails.plan(command, count, after)
            case "release":
                self.hooks.released.set()
                self.mails.released.set()
            case "more":
                hooks, mails = (manner.received + int(words[0]) for manner in (self.hooks, self.mails))
                await self.http.until(lambda: self.hooks.received >= hooks)
                await self.smtp.until(lambda: self.mails.received >= mails)
            case "troubled":
                await self.http.until(lambda: self.hooks.troubled == len(self.hooks.troubles))
                await self.smtp.until(lambda: self.mails.troubled == len(self.mails.troubles))
            case "tell":
                return self.tell()
        return command

    def tell(self) -> dict[str, Any]:
        keys = [request.json()["key"] for request in self.http.accepted]
        subjects = [str(mail.message["Subject"]) for mail in self.smtp.accepted]
        return {
            "hook": {"silenced": self.hooks.silenced, "accepted": keys},
            "mail": {"silenced": self.mails.silenced, "accepted": subjects},
        }


async def main(answer_seconds: str, silent_every: str) -> None:
    receivers = Receivers(float(answer_seconds), int(silent_every))
    async with receivers.http, receivers.smtp:
        print(json.dumps([receivers.http.port, receivers.smtp.port]), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await receivers.obey(*line.split())), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
