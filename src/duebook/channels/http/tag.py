"""Our reference as a tag, for providers whose tags hold letters, digits, "-" and "_" alone."""

from __future__ import annotations


def as_tag(reference: str) -> str:
    """Return a reference without its dot."""
    return reference.replace(".", "-")


def from_tag(tag: str | None) -> str | None:
    """Return the reference that `as_tag` wrote."""
    return None if tag is None else tag.replace("-", ".")
