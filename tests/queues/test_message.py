from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.errors import InvalidInput
from duebook.queues.address import place
from duebook.queues.message import batches, checked_hold, checked_queue, decode, encode, whole_seconds

LARGEST = 2**63 - 1
SECOND = timedelta(seconds=1)


def test_a_message_holds_an_id_and_nothing_else() -> None:
    assert encode(4711) == b'{"id": 4711}'


@given(st.integers(1, LARGEST))
def test_what_is_encoded_is_decoded(id: int) -> None:
    assert decode(encode(id)) == id


@given(st.binary())
def test_bytes_of_any_kind_are_ours_or_foreign(body: bytes) -> None:
    assert decode(body) is None


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"4711", b"[4711]", b"{}", b'{"id": "4711"}', b'{"id": 4711.0}', b'{"id": true}', b'{"id": 0}',
     b'{"id": -1}', b'{"id": 9223372036854775808}', b'{"id": 1, "to": "ann@example.net"}', b'{"ID": 1}',
     b'{"id": ' + b"9" * 5_000 + b"}", b"[" * 100_000, b'{"id": NaN}', b"\xff\xfe"],
)  # fmt: skip
def test_whatever_else_is_foreign(body: bytes) -> None:
    assert decode(body) is None


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        (timedelta(0), 0),
        (timedelta(days=-400), 0),
        (timedelta(microseconds=-1), 0),
        (timedelta(microseconds=1), 1),
        (timedelta(seconds=1), 1),
        (timedelta(seconds=1, microseconds=1), 2),
        (timedelta(seconds=900), 900),
        (timedelta(seconds=899, microseconds=1), 900),
    ],
)
def test_a_delay_is_rounded_up_and_the_past_is_now(delay: timedelta, seconds: int) -> None:
    assert whole_seconds(delay, timedelta(seconds=900)) == seconds


@pytest.mark.parametrize("over", [timedelta(microseconds=1), SECOND, timedelta(days=25)])
def test_a_delay_over_the_cap_is_refused(over: timedelta) -> None:
    with pytest.raises(InvalidInput, match=r"^delay: .* at most 900 seconds"):
        whole_seconds(timedelta(seconds=900) + over, timedelta(seconds=900))


@pytest.mark.parametrize("days", [25, 30, 60, 400])
def test_no_cap_is_no_cap(days: int) -> None:
    assert whole_seconds(timedelta(days=days), None) == days * 86_400


@pytest.mark.parametrize("name", ["mail", "Mail-2.eu_west", ".hidden", "x" * 64])
def test_a_name_that_every_broker_takes_is_taken(name: str) -> None:
    assert checked_queue(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", "two words", "a/b", "a:b", "a*", "ü", "x" * 65, "a\n"])
def test_any_other_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as error:
        checked_queue(name)
    assert error.value.field == "name"


def test_a_hold_is_a_second_or_more() -> None:
    assert checked_hold(1) == 1
    with pytest.raises(InvalidInput, match=r"^hold_seconds: "):
        checked_hold(0)


@given(st.lists(st.integers()), st.integers(1, 10))
def test_batches_hold_everything_in_order_and_no_more_than_their_size(items: list[int], size: int) -> None:
    found = list(batches(items, size))
    assert [item for some in found for item in some] == items
    assert all(1 <= len(some) <= size for some in found)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://ann:hunter2@queue.example.net:6379/0?password=hunter2", "redis://queue.example.net:6379"),
        ("amqps://queue.example.net", "amqps://queue.example.net"),
        ("redis://:hunter2@[::1]:6379", "redis://[::1]:6379"),
        ("sqs://", "sqs://"),
    ],
)
def test_a_place_is_shown_without_what_is_secret(url: str, shown: str) -> None:
    assert place(url) == shown


@pytest.mark.parametrize("url", ["redis://ann:hunter2/@queue.example.net", "redis://[hunter2"])
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInput) as error:
        place(url)
    assert error.value.field == "url"
    assert "hunter2" not in str(error.value)
