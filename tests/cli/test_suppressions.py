"""Addresses that are written to no more, from the command line."""

import pytest

from .support import deliver, duebook

ANN = ("email", "Ann@Example.com")
WHY = ("--reason", "she asked us on the phone")


def test_nothing_goes_to_an_address_until_it_is_lifted(either_url: str) -> None:
    assert duebook("suppressions", "add", *ANN, *WHY).out == "Ann@Example.com is written to no more.\n"
    again = duebook("suppressions", "add", *ANN, "--reason", "again").out
    assert again == "Ann@Example.com was written to no more before; the first reason stays.\n"
    (one,) = duebook("suppressions", "list", "--address", "ANN@example.com", "--json").json["suppressions"]
    assert (one["channel"], one["address"], one["scope"]) == ("email", "ann@example.com", "everything")
    assert (one["reason"], one["by"][:4]) == ("she asked us on the phone", "cli:")
    for key, recipient in (("hers", "ann"), ("his", "bob")):
        duebook("schedule", "renewal", key, "--recipient", recipient, "--after", "0s")
    deliver(either_url, 1)
    story = duebook("explain", "renewal", "hers").out
    assert "Closed as skipped: suppressed: she asked us on the phone" in story
    assert "Why that address is written to no more: duebook suppressions list --channel email" in story
    lifted = duebook("suppressions", "remove", *ANN)
    assert (lifted.code, lifted.out) == (0, "Ann@Example.com is written to again; 1 suppression lifted.\n")
    assert duebook("suppressions", "remove", *ANN).code == 1
    assert duebook("suppressions", "list").out == "None found.\n"


@pytest.mark.usefixtures("either_url")
def test_one_kind_is_lifted_and_the_others_stay() -> None:
    duebook("suppressions", "add", *ANN, *WHY)
    duebook("suppressions", "add", *ANN, *WHY, "--kind", "renewal")
    assert "1 suppression lifted" in duebook("suppressions", "remove", *ANN, "--kind", "renewal").out
    table = duebook("suppressions", "list", "--channel", "email").out
    assert "everything" in table
    assert "kind renewal" not in table


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("emial", "ann@example.com", *WHY), "channel"),
        (("email", "", *WHY), "address"),
        (("email", "ann@example.com", "--reason", ""), "reason"),
        (("email", "ann@example.com", *WHY, "--kind", "renewl"), "kind"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(arguments: tuple[str, ...], field: str) -> None:
    answer = duebook("suppressions", "add", *arguments, "--json")
    assert (answer.code, answer.failure["field"]) == (2, field)
    assert duebook("suppressions", "list", "--json").json == {"suppressions": []}
