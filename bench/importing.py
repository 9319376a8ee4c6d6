"""How long `import duebook` takes in a fresh interpreter, whose own start is not counted."""

from __future__ import annotations

import subprocess
import sys

from .figures import Target
from .run import Run

TARGET = Target(0.2, most=True)
TIMED = "import time; a = time.perf_counter(); import duebook; print(time.perf_counter() - a)"
TOP = 12


def measure(run: Run) -> None:
    _seconds()  # the first reads the files from the disk and may have to compile them
    value = run.found("import duebook", [_seconds() for _ in range(run.scale.imports)], "s", target=TARGET)
    if not TARGET.reached(value):
        for line in slowest_modules():
            run.say(line)


def _seconds() -> float:
    done = subprocess.run([sys.executable, "-c", TIMED], capture_output=True, text=True, check=True)
    return float(done.stdout)


def slowest_modules() -> list[str]:
    """Return the modules that take longest by themselves, as lines."""
    command = [sys.executable, "-X", "importtime", "-c", "import duebook"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = []
    for line in done.stderr.splitlines():
        alone, _, rest = line.removeprefix("import time:").partition("|")
        if alone.strip().isdigit():
            together, _, name = rest.partition("|")
            rows.append((int(alone), int(together), name.strip()))
    rows.sort(reverse=True)
    return [f"{alone / 1000:7.1f} ms alone, {all_in / 1000:7.1f} ms with its own imports: {name}"
            for alone, all_in, name in rows[:TOP]]  # fmt: skip
