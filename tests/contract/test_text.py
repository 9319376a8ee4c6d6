"""Text from outside: whatever a provider, a handler or a person says is stored safely or refused by name."""

import json
from datetime import timedelta
from typing import Any

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.outcome import Accepted, Outcome, Rejected, Retry, Uncertain
from duebook.domain.text import REASON_CHARACTERS
from duebook.errors import InvalidInput
from tests.support.worlds import World, moved

NASTY = {
    "NUL": "before\x00after",
    "a lone surrogate": "before\ud83dafter",
    "four bytes": "before👋🏽after",
    "controls": "before\x1b[31m\x07after",
    "a backslash": r"before\u0000after \\ %s $1 :name ?",
    "quotes": """before"'`--;after""",
    "combining": "Z\u0308alg\u0301o",
    "long": "x" * 100_000,
    "long and wide": "👋" * 50_000,
}


@pytest.mark.parametrize("name", NASTY)
async def test_a_reason_from_outside_is_stored_bounded_and_harmless(world: World, name: str) -> None:
    text = NASTY[name]
    outcomes: list[Outcome] = [Rejected(text), Retry(text), Uncertain(text, "data")]
    await world.schedule("a", "b", "c")
    intents = await world.begin(*await world.claim())
    for intent, outcome in zip(intents, outcomes, strict=True):
        assert await world.settle(intent, outcome)
    for key in "abc":
        (attempt,) = (await world.story(key)).attempts
        assert attempt.reason is not None
        assert len(attempt.reason) <= REASON_CHARACTERS
        assert "\x00" not in attempt.reason
    n = await world.claimed("d")
    await world.apply(moved(n, Event.SKIP, world.clock.now(), reason=text))
    assert await world.state("d") is State.SKIPPED


@pytest.mark.parametrize("name", ["NUL", "a lone surrogate", "four bytes", "long and wide"])
@pytest.mark.parametrize("where", ["provider_id", "phase"])
async def test_whatever_else_an_outcome_carries_is_stored_bounded_and_harmless(
    world: World, name: str, where: str
) -> None:
    """One NUL in a provider's id must not turn an accepted mail into an uncertain one."""
    text = NASTY[name]
    intent = await world.sending("a")
    assert await world.settle(intent, Accepted(text) if where == "provider_id" else Uncertain("no reply", text))
    (attempt,) = (await world.story("a")).attempts
    kept = attempt.provider_id if where == "provider_id" else attempt.phase
    assert kept is not None
    assert len(kept) <= REASON_CHARACTERS


@pytest.mark.parametrize("name", ["four bytes", "a backslash", "quotes", "combining"])
async def test_what_a_person_writes_comes_back_as_it_was(world: World, name: str) -> None:
    text = NASTY[name]
    world.declare()
    await world.book.schedule(
        "mail", text, recipient=text, after=timedelta(0), group=text, tenant=text[:64], data={text: [text, {"a": text}]}
    )
    n = await world.read(text)
    assert (n.key, n.recipient, n.group, n.tenant) == (text, text, text, text[:64])
    assert json.loads(n.data) == {text: [text, {"a": text}]}
    assert (await world.book.search(recipient=text))[0].key == text
    assert (await world.book.cancel_group(text, reason=text)).cancelled == 1
    assert (await world.read(text)).reason == text


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


@pytest.mark.parametrize("text", ["Hello 👋🏽", "NUL as text: \\u0000", "line\nbreak\ttab", 'quote " and \\ backslash'])
async def test_a_message_comes_back_byte_for_byte(world: World, text: str) -> None:
    n = await world.claimed("a")
    (intent,) = await world.begin(n, text=text)
    assert (await world.read("a")).message == intent.message


@pytest.mark.parametrize(
    "data", ['{"n": 12345678901234567890123}', '{"n": 0.1}', '{"n": 1e15}', '{"n": -0.0}', '{"n": 1.0}', '{"n": null}']
)
async def test_numbers_in_data_keep_their_value(world: World, data: str) -> None:
    await world.schedule("a", data=data)
    assert json.loads((await world.read("a")).data) == json.loads(data)
