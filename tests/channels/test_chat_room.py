"""What all chat rooms have in common."""

from __future__ import annotations

from typing import Any

import pytest

from duebook.channels.chat_room import ChatRoom
from duebook.channels.discord import Discord
from duebook.channels.markdown import without_links
from duebook.channels.mattermost import Mattermost
from duebook.channels.slack import Slack
from duebook.channels.teams import Teams
from duebook.errors import InvalidInput
from duebook.testing.doubles import HttpDouble, Reply

from .rooms import PATH, chat
from .support import context, word

URL = f"https://chat.example.com{PATH}"
ROOMS: list[type[ChatRoom]] = [Slack, Mattermost, Discord, Teams]
EVERY = pytest.mark.parametrize("room", ROOMS)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"url": "http://chat.example.com/hooks/s3cret-token"}, "url"),
        ({"url": "https://s3cret-token@chat.example.com/"}, "url"),
        ({"url": "s3cret-token"}, "url"),
        ({"url": "https://[::1/s3cret"}, "url"),
        ({"connect_seconds": 0}, "connect_seconds"),
        ({"concurrency": 0}, "concurrency"),
        ({"name": "two words"}, "channel"),
    ],
)
@EVERY
def test_settings_that_cannot_work(room: Any, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        room(**{"url": URL, **changes})
    assert error.value.field == field
    assert "s3cret" not in str(error.value)


@EVERY
def test_the_url_stays_out_of_its_text(room: type[ChatRoom]) -> None:
    assert repr(room(URL)) == f"{room.__name__}(name='{room.__name__.lower()}')"


@EVERY
async def test_an_answer_that_quotes_the_url_puts_none_of_it_on_record(room: type[ChatRoom]) -> None:
    async with HttpDouble(lambda request: Reply(404, f"no such hook: {request.path}")) as double:
        outcome = await room(double.url + PATH).send(chat(), context())
        assert "no such hook" in repr(outcome)
        assert "s3cret" not in repr(outcome)


@EVERY
async def test_a_room_that_cannot_be_reached_is_asked_again(room: type[ChatRoom]) -> None:
    outcome = await room("http://127.0.0.1:1" + PATH).send(chat(), context())
    assert word(outcome) == "Retry"
    assert "s3cret" not in repr(outcome)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("[bank](https://evil.example)", r"\[bank\](https://evil.example)"),
        (r"\[bank](https://evil.example)", r"\\\[bank\](https://evil.example)"),
        ("see https://example.com/a_b", "see https://example.com/a_b"),
    ],
)
def test_no_link_hides_behind_other_words(text: str, written: str) -> None:
    assert without_links(text) == written
