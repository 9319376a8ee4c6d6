"""People from the command line: where and how they want to be reached, and what they do not want."""

import pytest

from .support import deliver, duebook

ADDRESSES = ("--address", "email=ann@example.com", "--address", "push=device-7")


@pytest.mark.usefixtures("either_url")
def test_what_is_noted_is_shown_and_takes_the_place_of_what_was() -> None:
    zone = ("--zone", "America/New_York", "--quiet", "22:00-07:00")
    said = duebook("people", "set", "ann", *zone, "--locale", "en", *ADDRESSES, "--preferred", "push").out
    assert said.splitlines()[:5] == [
        "ann: zone America/New_York, locale en",
        "Over email: ann@example.com",
        "Over push: device-7",
        "Would rather have push, where a kind can use it.",
        said.splitlines()[4],
    ]
    assert said.splitlines()[4].startswith("Quiet from 22:00 to 07:00")
    person = duebook("people", "show", "ann", "--json").json
    assert (person["addresses"], person["quiet"]) == (
        {"email": "ann@example.com", "push": "device-7"},
        ["22:00", "07:00"],
    )
    duebook("people", "set", "ann", "--zone", "UTC")
    person = duebook("people", "show", "ann", "--json").json
    assert (person["zone"], person["addresses"], person["preferred"], person["quiet"]) == ("UTC", {}, None, None)


@pytest.mark.usefixtures("url")
def test_it_says_that_it_is_quiet_now_and_until_when() -> None:
    always = ("--zone", "UTC", "--quiet", "00:00-23:59")
    assert "; it is quiet now, until " in duebook("people", "set", "ann", *always).out


def test_whoever_opts_out_gets_nothing_and_the_story_says_why(either_url: str) -> None:
    out = duebook("people", "opt-out", "ann", "--kind", "renewal", "--reason", "she wrote to us")
    assert out.out == "ann has opted out of kind renewal.\n"
    again = duebook("people", "opt-out", "ann", "--kind", "renewal")
    assert (again.code, again.out) == (0, "ann had opted out of kind renewal before.\n")
    for key, recipient in (("hers", "ann"), ("his", "bob")):
        duebook("schedule", "renewal", key, "--recipient", recipient, "--after", "0s")
    deliver(either_url, 1)
    story = duebook("explain", "renewal", "hers").out
    assert "Closed as skipped: opted out of kind renewal" in story
    assert "What they wish: duebook people show ann" in story
    assert "Has opted out of kind renewal." in duebook("people", "show", "ann").out


@pytest.mark.usefixtures("either_url")
def test_an_opt_out_is_lifted_by_the_same_words() -> None:
    duebook("people", "opt-out", "ann", "--channel", "email")
    other = duebook("people", "opt-in", "ann")
    assert (other.code, other.out) == (1, "ann has not opted out of everything: duebook people show ann\n")
    assert duebook("people", "opt-in", "ann", "--channel", "email").out == "ann gets channel email again.\n"
    assert duebook("people", "show", "ann").code == 1


@pytest.mark.usefixtures("url")
@pytest.mark.parametrize(
    ("arguments", "said", "field"),
    [
        (("set", "ann", "--quiet", "22:00-07:00"), "need the zone", "zone"),
        (("set", "ann", "--quiet", "late", "--zone", "UTC"), "such as 22:00-07:00", "quiet"),
        (("set", "ann", "--zone", "Europe/Brelin"), "Europe/Berlin", "zone"),
        (("set", "ann", "--address", "ann@example.com"), "must look like email=", "addresses"),
        (("set", "ann", "--address", "email=a", "--address", "email=b"), "given twice", "addresses"),
        (("opt-out", "ann", "--kind", "renewl"), "Did you mean 'renewal'?", "kind"),
        (("opt-out", "ann", "--channel", "emial"), "Did you mean 'email'?", "channel"),
        (("opt-out", "ann", "--channel", "email", "--kind", "renewal"), "not both", "kind"),
    ],
)
def test_what_cannot_be_used_is_refused_by_field(arguments: tuple[str, ...], said: str, field: str) -> None:
    answer = duebook("people", *arguments, "--json")
    assert (answer.code, answer.failure["field"]) == (2, field)
    assert said in answer.failure["error"]
    assert duebook("people", "show", "ann").out == "Nothing is known about ann.\n"
