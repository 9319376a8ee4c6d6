"""Time zones from the tzdata package, whatever copy the system has.

The standard library prefers the system's files, which on a stable distribution are a year behind: three zones were
an hour wrong when this was written. So zones are read from the package, and its version is kept beside every
local promise.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module, resources
from zoneinfo import ZoneInfo

from ..errors import UnknownName


@cache
def version() -> str:
    """Return the version of the zone rules in use, such as "2026f"."""
    return str(import_module("tzdata").IANA_VERSION)


@cache
def names() -> frozenset[str]:
    """Return every zone name the package knows."""
    return frozenset((resources.files("tzdata") / "zones").read_text(encoding="ascii").split())


@cache
def zone(name: str) -> ZoneInfo:
    """Return the zone called `name`, or raise UnknownName with the nearest one."""
    if name not in names():
        raise UnknownName("zone", name, names())
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
