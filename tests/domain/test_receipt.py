"""What a receipt is about, what it proves, and what it means for an address."""

from dataclasses import replace
from datetime import datetime
from typing import Any, get_args

import pytest

from duebook.domain.identity import idempotency_key, reference
from duebook.domain.receipt import Receipt, ReceiptEvent, Referred, Suppression, evidence, matched, suppression
from tests.domain.builders import MINUTE, NOW

REFERENCE = reference(7, idempotency_key("prod", "news", "a"))


def receipt(event: Any = "delivered", at: datetime = NOW, **changes: Any) -> Receipt:
    return replace(Receipt("resend", "e-1", event, at, None, None, "Ann@Example.org"), **changes)


def attempt(number: int, provider_id: str | None = None, outcome: str | None = "uncertain", id: int = 7) -> Referred:
    return Referred(id, number, NOW + number * MINUTE, provider_id, "mail", outcome, "prod", "news", "a")


ATTEMPTS = [attempt(1, outcome="retry"), attempt(2), attempt(3, "p-3", "accepted")]


@pytest.mark.parametrize(
    ("said", "number"),
    [
        (receipt(provider_id="p-3"), 3),
        (receipt(provider_id="p-3", reference=REFERENCE, at=NOW), 3),
        (receipt(reference=REFERENCE, at=NOW + 2 * MINUTE), 2),
        (receipt(reference=REFERENCE, at=NOW + 9 * MINUTE), 3),
        (receipt(provider_id="p-9", reference=REFERENCE, at=NOW + MINUTE), 1),
        # By the provider's clock it came before anything had begun; it is about something all the same.
        (receipt(reference=REFERENCE, at=NOW), 3),
    ],
)
def test_the_providers_name_goes_first_and_then_what_had_begun_by_then(said: Receipt, number: int) -> None:
    found = matched(said, ATTEMPTS)
    assert found is not None
    assert found.number == number


@pytest.mark.parametrize(
    "said",
    [
        receipt(),
        receipt(provider_id="p-9"),
        receipt(reference=REFERENCE[:-1] + "!"),
        receipt(reference=reference(7, idempotency_key("staging", "news", "a"))),
        receipt(reference=reference(8, idempotency_key("prod", "news", "a"))),
    ],
)
def test_what_names_nothing_of_ours_is_about_nothing(said: Receipt) -> None:
    assert matched(said, ATTEMPTS) is None
    assert matched(said, []) is None


def test_an_attempt_without_a_name_is_not_meant_by_a_receipt_without_one() -> None:
    assert matched(receipt(provider_id=None), [attempt(1, None)]) is None


@pytest.mark.parametrize("outcome", ["accepted", "rejected", "retry", "throttled", "uncertain", "lost", None])
@pytest.mark.parametrize("event", get_args(ReceiptEvent))
def test_it_proves_something_only_of_what_nobody_could_vouch_for(event: str, outcome: str | None) -> None:
    found = evidence(receipt(event, provider_id="p-7"), attempt(2, outcome=outcome), NOW)
    if outcome in ("uncertain", "lost", None):
        assert found is not None
        assert (found.number, found.source, found.provider_id) == (2, "receipt", "p-7")
        assert found.says == ("rejected" if event == "refused" else "accepted")
    else:
        assert found is None


@pytest.mark.parametrize("permanent", [True, False])
@pytest.mark.parametrize("event", get_args(ReceiptEvent))
def test_only_a_bounce_for_good_and_a_complaint_close_an_address(event: str, permanent: bool) -> None:
    found = suppression(receipt(event, permanent=permanent, detail="550 5.1.1"), attempt(1))
    match event, permanent:
        case "bounced", True:
            expected = Suppression("mail", "ann@example.org", "everything", "it bounced for good: 550 5.1.1")
            assert found == expected
        case "complained", _:
            assert found == Suppression("mail", "ann@example.org", "news", "its reader complained about news")
        case _:
            assert found is None


def test_a_bounce_without_an_address_closes_none() -> None:
    assert suppression(receipt("bounced", permanent=True, address=None), attempt(1)) is None


def test_a_bounce_without_a_word_has_a_reason_all_the_same() -> None:
    found = suppression(receipt("bounced", permanent=True), attempt(1))
    assert found is not None
    assert found.reason == "it bounced for good"
