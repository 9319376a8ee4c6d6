"""What an HTTP server answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from ...domain.text import clean

_EXCERPT = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and what came with it; header names are in lower case. As text it is fit for an outcome's reason."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        """Return the body as JSON, or None if it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def field(self, name: str) -> str | None:
        """Return a field of a JSON object as text, or None if there is no such text or number."""
        said = self.json()
        found = said.get(name) if isinstance(said, dict) else None
        usable = isinstance(found, str | int) and not isinstance(found, bool) and found != ""
        return str(found) if usable else None

    def __str__(self) -> str:
        try:
            phrase = HTTPStatus(self.status).phrase
        except ValueError:
            phrase = ""
        excerpt = " ".join(self.body[: 4 * _EXCERPT].decode("utf-8", "replace").split())
        return clean(f"{self.status} {phrase}".rstrip() + (f": {clean(excerpt, _EXCERPT)}" if excerpt else ""))
