"""What cannot be stored never reaches a store."""

from datetime import timedelta
from typing import Any

import pytest

from duebook.errors import InvalidInput
from duebook.testing.contracts.store.wording import NASTY
from tests.support.worlds import World


@pytest.mark.parametrize("field", ["key", "recipient", "group", "tenant", "data"])
@pytest.mark.parametrize("name", ["NUL", "a lone surrogate", "long"])
async def test_what_cannot_be_stored_is_refused_by_the_name_of_its_field(world: World, field: str, name: str) -> None:
    world.declare()
    said: dict[str, Any] = {"key": "a", "recipient": "ann", "group": "g", "tenant": "t", "data": {}}
    said[field] = {"text": NASTY[name]} if field == "data" else NASTY[name]
    with pytest.raises(InvalidInput) as caught:
        await world.book.schedule("mail", said.pop("key"), **said, after=timedelta(0))
    assert caught.value.field == field
    assert world.shell.value("select count(*) from @identities") == 0
