"""An SQS server for a test: moto's, in a process of its own, which forgets everything when it is stopped."""

import subprocess
import sys
from threading import Thread

from tests.queues.ports import free_port

# If Python changes threads while moto looks for a message that nobody has, two receivers may get it. So it is told to
# let a thread go on until it waits for something.
PROGRAM = "import sys; sys.setswitchinterval(60); from moto.server import main; main(sys.argv[1:])"


class SqsServer:
    """Runs from when it is made until `stop`. `port`: where it listens, after a restart too."""

    def __init__(self) -> None:
        self.port = free_port()
        self._start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._process.kill()
        self._draining.join()
        self._process.communicate()

    def restart(self) -> None:
        self.stop()
        self._start()

    def _start(self) -> None:
        command = [sys.executable, "-c", PROGRAM, "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert self._process.stderr
        for line in self._process.stderr:
            if "Running on" in line:
                # Its log of requests would fill the pipe.
                self._draining = Thread(target=self._process.stderr.read)
                self._draining.start()
                return
        raise RuntimeError("moto's server ended before it was ready")
