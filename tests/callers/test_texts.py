"""No statement has a colon or a percent sign that a driver would take for a parameter."""

from collections import defaultdict

import pytest
import sqlalchemy

from duebook.ports import Statement
from duebook.stores import catalog

VERBS = [
    (dialect, file.name.removesuffix(".sql"))
    for dialect in ("sqlite", "postgres")
    for file in sorted(catalog.folder(dialect, "sql").iterdir(), key=lambda file: file.name)
]


@pytest.mark.parametrize(("dialect", "verb"), VERBS)
def test_drivers_see_the_parameters_that_we_see(
    dialect: catalog.Dialect, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "_compiled", {})
    statement = Statement(verb, defaultdict(str))
    colon = catalog.prepare(dialect, "colon" if dialect == "postgres" else "named", statement)
    assert set(sqlalchemy.text(colon.text).compile().params) == set(colon.names)
    pyformat = catalog.prepare(dialect, "pyformat", statement)
    assert set(_asked_for(pyformat.text)) == set(pyformat.names)


def _asked_for(text: str) -> dict[str, str]:
    """The names that formatting asks for."""
    asked: dict[str, str] = defaultdict(str)
    assert text % asked
    return asked
