"""The worker as a process of its own, stopped by signals."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duebook as package

from .support import duebook

Process = subprocess.Popen[str]


@contextmanager
def worker(*arguments: str) -> Iterator[Process]:
    command = [sys.executable, "-m", "duebook", "worker", *arguments]
    process = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(Path(package.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def read_until(stream: object, wanted: str) -> str:
    said = ""
    for line in stream:  # type: ignore[attr-defined]
        said += line
        if wanted in line:
            return said
    raise AssertionError(f"ended without {wanted!r}: {said}")


def test_it_serves_until_told_to_stop(url: str, app: str) -> None:
    duebook("schedule", "renewal", "k", "--recipient", "ann", "--after", "0s", "--app", app)
    with worker(app) as process:
        said = read_until(process.stdout, "sent k")
        assert "Serving 1 kind over 1 channel" in said
        assert "kind renewal: over email, normal, 5 attempts, when uncertain: hold" in said
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Stopping: handing back what has not begun" in errors
    assert "Stopped." in errors
    assert "accepted" in duebook("find", "renewal", "k").out


def test_a_second_signal_ends_it_at_once(url: str, app: str) -> None:
    module = app.partition(":")[0]
    with open(f"{module}.py", "a") as file:  # noqa: PTH123
        file.write(
            "\n\n@book.channel('slow', send_seconds=60)\n"
            "async def slow(message, context):\n"
            "    print('begun', flush=True)\n"
            "    await __import__('asyncio').Event().wait()\n\n\n"
            "@book.kind('stuck', channel='slow')\n"
            "def stuck(due):\n"
            "    return Email(to='ann@example.com', subject='s', text='t')\n"
        )
    duebook("schedule", "stuck", "k", "--recipient", "ann", "--after", "0s", "--app", app)
    with worker(app, "--json") as process:
        read_until(process.stdout, "begun")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode in (128 + signal.SIGTERM, 128 + signal.SIGINT)
    assert "sending" in duebook("find", "stuck", "k", "--app", app).out


def test_it_needs_an_app_with_handlers(url: str) -> None:
    assert "a worker needs your handlers" in duebook("worker").err
    assert duebook("worker", "nonsense").code == 2


def test_json_says_once_what_it_serves(url: str, app: str) -> None:
    with worker("--app", app, "--json") as process:
        said = read_until(process.stdout, "not_served")
        process.send_signal(signal.SIGTERM)
        assert process.stdout is not None
        said += process.stdout.read()
    document = json.loads(said)
    assert (document["pid"], [kind["name"] for kind in document["kinds"]]) == (process.pid, ["renewal"])
