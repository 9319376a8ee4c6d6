"""The program that is killed: a worker with one channel that speaks to the recording provider.

Run as `python served.py URL PORT keyed|plain`; stops gracefully on SIGTERM. Says `resting` for as long as nothing is
left to do.
"""

import asyncio
import signal
import sys
from contextlib import suppress
from datetime import timedelta

from duebook import Accepted, Due, Duebook, EngineSettings, Outcome, Push, SendContext, Uncertain

CONCURRENCY = 16
IMPATIENT = EngineSettings(lease_seconds=0.9, grace_seconds=0.3, poll_seconds=0.3, sweep_seconds=1.0)
# On a plain channel whatever a slow machine costs stays uncertain, so there everything may take longer.
PATIENT = EngineSettings(lease_seconds=4.0, grace_seconds=0.3, poll_seconds=0.3, sweep_seconds=1.0)


def book(url: str, port: int, keyed: bool) -> Duebook:
    made = Duebook(url, namespace="kill", settings=IMPATIENT if keyed else PATIENT)
    window = timedelta(hours=24) if keyed else None

    @made.channel("wire", key_window=window, concurrency=CONCURRENCY, send_seconds=0.8 if keyed else 20.0)
    async def wire(message: Push, context: SendContext) -> Outcome:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(f"{context.idempotency_key}\n".encode())
            await writer.drain()
            return Accepted(message.to) if await reader.readline() else Uncertain("no reply")
        finally:
            writer.close()

    @made.kind("reminder", channel="wire", on_uncertain="resend" if keyed else "hold")
    async def reminder(due: Due) -> Push:
        return Push(to=due.recipient, title=due.key)

    return made


async def main(url: str, port: str, keyed: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    made = book(url, int(port), keyed == "keyed")
    async with made.worker():
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.2)
            left = await made.backlog()
            waits = left.due or left.in_flight or left.next_wake_at or (keyed == "keyed" and left.uncertain)
            if not waits:
                print("resting", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
