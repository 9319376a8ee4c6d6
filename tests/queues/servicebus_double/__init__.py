"""The double of Azure Service Bus, started for a test. It runs on Node.js, with rhea for AMQP."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HERE = Path(__file__).parent
_MANIFESTS = ("package.json", "package-lock.json")
_INSTALL_SECONDS = 50


class Unavailable(Exception):
    """What is missing on this machine."""


class ServiceBusDouble:
    """Listens at `connection_string`. `restart` breaks every connection, and no message is lost."""

    def __init__(self, modules: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(_HERE / "server.cjs")],
            env={**os.environ, "NODE_PATH": str(modules)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self._port = self._listening()

    @property
    def connection_string(self) -> str:
        return connection_string(self._port)

    def restart(self) -> None:
        assert self._process.stdin
        self._process.stdin.write("restart\n")
        self._port = self._listening()

    def stop(self) -> None:
        with self._process as process:
            process.kill()

    def _listening(self) -> int:
        assert self._process.stdout
        word, _, port = self._process.stdout.readline().partition(" ")
        assert word == "listening", "the double did not start; what it said is above"
        return int(port)


def connection_string(port: int, key: str = "a2V5") -> str:
    """What the SDK wants, for a broker without TLS."""
    place = f"Endpoint=sb://127.0.0.1:{port};UseDevelopmentEmulator=true"
    return f"{place};SharedAccessKeyName=duebook;SharedAccessKey={key}"


@contextmanager
def running(cache: Path) -> Iterator[ServiceBusDouble]:
    """A double; `cache` keeps what npm installed. Raises Unavailable where Node.js, npm or the package is missing."""
    double = ServiceBusDouble(_installed(cache))
    try:
        yield double
    finally:
        double.stop()


def _installed(cache: Path) -> Path:
    """Return the folder of modules, and install them once for each lock."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            raise Unavailable(f"the double of Azure Service Bus needs {program}")
    lock = hashlib.sha256((_HERE / "package-lock.json").read_bytes()).hexdigest()[:12]
    wanted = cache / lock
    if not wanted.exists():
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            _install(Path(folder))
            # Another process may have been faster.
            with suppress(OSError):
                Path(folder, "node_modules").rename(wanted)
    return wanted


def _install(folder: Path) -> None:
    for name in _MANIFESTS:
        shutil.copy(_HERE / name, folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise Unavailable("npm did not install rhea in time") from None
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"npm could not install rhea: {error.stderr.strip()}") from None
