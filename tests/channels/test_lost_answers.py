"""A provider takes a message and its answer is lost: how the engine and a provider's API end the doubt together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from duebook import Due, Duebook, Email
from duebook.domain.receipt import Receipt
from duebook.testing import Timeline
from duebook.testing.doubles import Drop, HttpDouble

from .providers import PROVIDERS, Provider

ONCE = timedelta(0)


@asynccontextmanager
async def sending(provider: Provider, double: HttpDouble, **settings: Any) -> AsyncIterator[Timeline]:
    """Schedule one mail through a provider whose first answer is lost, and let the first attempt be made."""
    double.next(Drop(take=True))
    book = Duebook("sqlite:///never-opened.db")
    book.add_channel("email", provider.build(base_url=double.url))

    @book.kind("renewal", channel="email", **settings)
    async def renewal(due: Due) -> Email:
        return Email(to="ann@example.net", subject="Renewal", text="It renews on Monday.\n")

    with Timeline(book, keep=["email"]) as timeline:
        await book.schedule("renewal", "sub-1", recipient="ann", after=ONCE)
        await timeline.run_due()
        yield timeline


async def test_resend_is_asked_again_under_the_same_key() -> None:
    async with (
        HttpDouble(key_window=timedelta(hours=24)) as double,
        sending(PROVIDERS["resend"], double, on_uncertain="resend") as timeline,
    ):
        await timeline.advance(minutes=5)
        timeline.expect("renewal", "sub-1").accepted().attempts(2)
        assert len(double.accepted) == 1


async def test_a_receipt_settles_what_sendgrid_cannot_be_asked() -> None:
    async with HttpDouble() as double, sending(PROVIDERS["sendgrid"], double) as timeline:
        await timeline.advance(minutes=5)
        timeline.expect("renewal", "sub-1").uncertain()
        reference = double.accepted[0].json()["custom_args"]["duebook"]
        receipt = Receipt("sendgrid", "e-1", "delivered", timeline.now, "LRzXl", reference, "ann@example.net")
        assert (await timeline.book.receipts.record([receipt])).matched == 1
        await timeline.advance(minutes=5)
        timeline.expect("renewal", "sub-1").accepted().attempts(1)
