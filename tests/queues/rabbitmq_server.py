"""A RabbitMQ node for a test, on free ports and with a folder of its own, which it keeps over a restart."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from tests.queues.ports import free_port

# Debian's program of this name in the search path goes on as the user rabbitmq, with the machine's own folders.
PROGRAM = shutil.which("rabbitmq-server", path=os.pathsep.join(["/usr/lib/rabbitmq/bin", os.environ["PATH"]]))


class RabbitmqServer:
    """Runs from when it is made until `stop`. `port`: where it listens, after a restart too."""

    def __init__(self, folder: Path) -> None:
        self.port, distribution_port = free_port(), free_port()
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "RABBITMQ_NODENAME": f"duebook-{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(distribution_port),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_CONFIG_FILE": str(folder / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder / "data"),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_LOGS": str(folder / "log"),
        }
        self._start()

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}"

    def stop(self, how: signal.Signals = signal.SIGKILL) -> None:
        os.killpg(self._process.pid, how)
        self._process.communicate()

    def restart(self) -> None:
        """Stop it in an orderly way and start it again."""
        self.stop(signal.SIGTERM)
        self._start()

    def crash(self) -> None:
        """Kill it and start it again. RabbitMQ 3.10 may lose for good a queue that is younger than a second."""
        self.stop()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [str(PROGRAM)],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert self._process.stdout
        said: list[str] = []
        for line in self._process.stdout:
            said.append(line)
            if "Starting broker... completed" in line:
                return
        raise RuntimeError(f"the RabbitMQ node did not start: {''.join(said)}")
