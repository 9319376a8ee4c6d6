"""How many worlds are tried: `DUEBOOK_SIM_SEEDS` says so for all together; `make sim SEEDS=…` sets it."""

import os

SEEDS = int(os.environ.get("DUEBOOK_SIM_SEEDS", "500"))


def each(worlds: int) -> int:
    """Return how many seeds each of so many worlds gets, so that each feature has a share of the run."""
    return max(1, -(-SEEDS // worlds))
