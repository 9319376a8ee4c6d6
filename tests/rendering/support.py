"""A small set of mails in three locales, and how to write one of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from duebook.domain.message import Email
from duebook.errors import InvalidMessage
from duebook.rendering import Templates

NOW = datetime(2027, 2, 8, 9, tzinfo=UTC)

RENEWAL = {
    "renewal.subject.txt": "{{ plan }} renews soon\n",
    "renewal.txt": "Dear {{ name }},\n{{ plan }} renews.\n",
    "de/renewal.subject.txt": "{{ plan }} verlängert sich",
    "de/renewal.txt": "Hallo {{ name }}\n",
    "de-AT/renewal.subject.txt": "{{ plan }} verlängert sich",
    "de-AT/renewal.txt": "Servus {{ name }}\n",
}
VALUES = {"plan": "Pro", "name": "Ann"}


def mail(sources: dict[str, str], values: dict[str, Any] | None = None, **changes: Any) -> Email:
    """Write the mail "m" of these sources."""
    return Templates(sources).email("m", values or {}, **{"to": "ann@example.net", "now": NOW, **changes})


def text(template: str, values: dict[str, Any] | None = None, **changes: Any) -> str:
    """Write one text."""
    return mail({"m.subject.txt": "s", "m.txt": template}, values, **changes).text


def html(template: str, values: dict[str, Any] | None = None, **sources: str) -> str:
    """Write one page."""
    found = mail({"m.subject.txt": "s", "m.txt": "t", "m.html": template, **sources}, values).html
    assert found is not None
    return found


def refusal(template: str, values: dict[str, Any] | None = None, **changes: Any) -> InvalidMessage:
    with pytest.raises(InvalidMessage) as refused:
        text(template, values, **changes)
    return refused.value
