"""Text from outside: whatever a provider, a handler or a person says is stored safely."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import product

from ....domain.lifecycle import Event, State
from ....domain.outcome import Accepted, Outcome, Rejected, Retry, Uncertain
from ....domain.text import REASON_CHARACTERS
from .clauses import Contract, Trial, clause
from .life import moved

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


class Wording(Contract):
    """Text from outside."""

    @clause(*NASTY)
    async def test_a_reason_from_outside_is_stored_bounded_and_harmless(self, trial: Trial, name: str) -> None:
        text = NASTY[name]
        outcomes: list[Outcome] = [Rejected(text), Retry(text), Uncertain(text, "data")]
        await trial.schedule("a", "b", "c")
        intents = await trial.begin(*await trial.claim())
        for intent, outcome in zip(intents, outcomes, strict=True):
            assert await trial.settle(intent, outcome)
        for key in "abc":
            (attempt,) = (await trial.story(key)).attempts
            assert attempt.reason is not None
            assert len(attempt.reason) <= REASON_CHARACTERS
            assert "\x00" not in attempt.reason
        n = await trial.claimed("d")
        await trial.apply(moved(n, Event.SKIP, trial.now(), reason=text))
        assert await trial.state("d") is State.SKIPPED

    @clause(*product(["NUL", "a lone surrogate", "four bytes", "long and wide"], ["provider_id", "phase"]))
    async def test_whatever_else_an_outcome_carries_is_stored_bounded_and_harmless(
        self, trial: Trial, name: str, where: str
    ) -> None:
        """One NUL in a provider's id must not turn an accepted mail into an uncertain one."""
        text = NASTY[name]
        intent = await trial.sending("a")
        assert await trial.settle(intent, Accepted(text) if where == "provider_id" else Uncertain("no reply", text))
        (attempt,) = (await trial.story("a")).attempts
        kept = attempt.provider_id if where == "provider_id" else attempt.phase
        assert kept is not None
        assert len(kept) <= REASON_CHARACTERS

    @clause("four bytes", "a backslash", "quotes", "combining")
    async def test_what_a_person_writes_comes_back_as_it_was(self, trial: Trial, name: str) -> None:
        text = NASTY[name]
        trial.declare()
        await trial.book.schedule(
            "mail",
            text,
            recipient=text,
            after=timedelta(0),
            group=text,
            tenant=text[:64],
            data={text: [text, {"a": text}]},
        )
        n = await trial.read(text)
        assert (n.key, n.recipient, n.group, n.tenant) == (text, text, text, text[:64])
        assert json.loads(n.data) == {text: [text, {"a": text}]}
        assert (await trial.book.search(recipient=text))[0].key == text
        assert (await trial.book.cancel_group(text, reason=text)).cancelled == 1
        assert (await trial.read(text)).reason == text

    @clause("Hello 👋🏽", "NUL as text: \\u0000", "line\nbreak\ttab", 'quote " and \\ backslash')
    async def test_a_message_comes_back_byte_for_byte(self, trial: Trial, text: str) -> None:
        n = await trial.claimed("a")
        (intent,) = await trial.begin(n, text=text)
        assert (await trial.read("a")).message == intent.message

    @clause('{"n": 12345678901234567890123}', '{"n": 0.1}', '{"n": 1e15}', '{"n": -0.0}', '{"n": 1.0}', '{"n": null}')
    async def test_numbers_in_data_keep_their_value(self, trial: Trial, data: str) -> None:
        await trial.schedule("a", data=data)
        assert json.loads((await trial.read("a")).data) == json.loads(data)
