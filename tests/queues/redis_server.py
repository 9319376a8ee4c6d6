"""A Redis server of the tests' own, on a free port, which keeps over a restart what it acknowledged."""

import shutil
import subprocess
from pathlib import Path

from tests.queues.ports import free_port

PROGRAM = shutil.which("redis-server")


class RedisServer:
    """Runs from when it is made until `stop`. `port`: where it listens, after a restart too."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder = folder
        self._start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def restart(self) -> None:
        """Kill it and start it again."""
        self.stop()
        self._start()

    def _start(self) -> None:
        command = [str(PROGRAM), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self._folder)]
        command += ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if "Ready to accept connections" in line:
                return
        raise RuntimeError("redis-server ended before it was ready")
