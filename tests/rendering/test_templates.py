"""Mails from templates: the right one for a locale, whole, and refused by name where something is wrong with it."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook import Due, Duebook
from duebook.channels.console import ConsoleChannel
from duebook.domain.message import Email
from duebook.domain.people import Person
from duebook.errors import InvalidMessage, MissingExtra
from duebook.rendering import Templates, environment
from duebook.testing import Timeline

from .support import NOW, RENEWAL, VALUES, html, mail, refusal, text

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"), max_size=60)


def written(locale: str | None, **settings: Any) -> str:
    return Templates(RENEWAL, **settings).email("renewal", VALUES, to="ann@example.net", locale=locale).text


def refused(sources: dict[str, str], **settings: Any) -> InvalidMessage:
    with pytest.raises(InvalidMessage) as found:
        Templates(sources, **settings)
    return found.value


class TestMails:
    def test_a_mail_is_subject_text_and_page(self) -> None:
        sources = {"m.subject.txt": "Hi {{ name }}\n", "m.txt": "Hi {{ name }}\n", "m.html": "<p>{{ name }}</p>\n"}
        fields: dict[str, Any] = {"to_name": "Ann", "reply_to": "help@example.net", "headers": {"X-Kind": "m"}}
        assert mail(sources, {"name": "Ann"}, **fields) == Email(
            to="ann@example.net", subject="Hi Ann", text="Hi Ann\n", html="<p>Ann</p>\n", **fields
        )

    def test_without_a_page_there_is_none(self) -> None:
        assert mail({"m.subject.txt": "s", "m.txt": "t"}).html is None

    def test_a_folder_is_read_as_a_mapping_is(self, tmp_path: Path) -> None:
        for name, source in RENEWAL.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(source, encoding="utf-8")
        (tmp_path / "notes.md").write_bytes(b"\xff")
        made = Templates(tmp_path).email("renewal", VALUES, to="ann@example.net", locale="de")
        assert (made.subject, made.text) == ("Pro verlängert sich", "Hallo Ann\n")

    @pytest.mark.parametrize(
        ("template", "lines"),
        [
            ("{% if true %}\n  {# a note #}\nHi\n{% endif %}\n", "Hi\n"),
            ("{% if true %}{% if true %}\nHi\n{% endif %}{% endif %}", "Hi\n"),
            ("Dear {% if true %}Ann{% endif %}\nHi\n", "Dear Ann\nHi\n"),
            ("a {# note #}\nb {% raw %}{{ x }} %}{% endraw %}\nc", "a \nb {{ x }} %}\nc"),
            ("{% raw %}a %}\nb %}\n{% endraw %}\nc", "a %}\nb %}\nc"),
            ("a {% if true -%}\nb {% endif %}\nc", "a b \nc"),
            ("a {% if '%}' %}\nb{% endif +%}\nc", "a \nb\nc"),
            ("{% for i in [1, 2] %}{{ i }}.\n{% endfor %}\nend\n\n", "1.\n2.\nend\n\n"),
        ],
    )
    def test_lines_break_where_they_do_in_the_template_and_tags_alone_leave_none(
        self, template: str, lines: str
    ) -> None:
        assert text(template) == lines

    @given(LINE)
    def test_what_stands_in_a_subject_is_what_was_given(self, name: str) -> None:
        assert mail({"m.subject.txt": "[{{ name }}]\n", "m.txt": "t"}, {"name": name}).subject == f"[{name}]"

    @pytest.mark.parametrize("name", ["Ann\r\nBcc: x@example.org", "a\rb", "a\nb", "a\n", "a\x00b"])
    def test_h67_h71_a_line_break_in_a_value_is_no_header(self, name: str) -> None:
        """simple-java-mail#88, zulip#39036: refused, not repaired."""
        with pytest.raises(InvalidMessage) as found:
            mail({"m.subject.txt": "{{ name }}", "m.txt": "t"}, {"name": name})
        assert found.value.field == "subject"

    def test_templates_may_be_used_by_many_threads(self) -> None:
        templates = Templates({"m.subject.txt": "{{ n }}", "m.txt": "{% for i in range(50) %}{{ n }},{% endfor %}"})
        seen: set[tuple[int, str]] = set()

        def write(n: int) -> None:
            seen.add((n, templates.email("m", {"n": n}, to="ann@example.net").text))

        threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert seen == {(n, f"{n}," * 50) for n in range(8)}


class TestLocales:
    @pytest.mark.parametrize(
        ("locale", "greeting"),
        [
            ("de-AT", "Servus Ann\n"),
            ("de_at", "Servus Ann\n"),
            ("de-CH", "Hallo Ann\n"),
            ("de", "Hallo Ann\n"),
            ("de-Latn-AT", "Hallo Ann\n"),
            ("fr", "Dear Ann,\nPro renews.\n"),
            ("nonsense!", "Dear Ann,\nPro renews.\n"),
            ("-", "Dear Ann,\nPro renews.\n"),
            ("", "Dear Ann,\nPro renews.\n"),
            (None, "Dear Ann,\nPro renews.\n"),
        ],
    )
    def test_the_nearest_locale_is_taken(self, locale: str | None, greeting: str) -> None:
        assert written(locale) == greeting

    def test_the_default_locale_may_have_a_folder_of_its_own(self) -> None:
        assert written(None, default_locale="de") == "Hallo Ann\n"

    @pytest.mark.parametrize(
        ("locale", "default", "used"),
        [("fr", "en", "en"), ("en-GB", "en", "en-GB"), ("en", "en-GB", "en"), (None, "de-AT", "de-AT")],
    )
    def test_times_are_never_written_in_another_language_than_the_mail(
        self, locale: str | None, default: str, used: str
    ) -> None:
        templates = Templates({"m.subject.txt": "s", "m.txt": "{{ reader.locale }}"}, default_locale=default)
        assert templates.email("m", {}, to="ann@example.net", locale=locale).text == used

    @pytest.mark.parametrize(
        ("person", "zone", "written"),
        [
            (Person("ann", zone="Europe/Vienna", locale="de-AT"), "America/New_York", "09:00 MEZ, in 4 Tagen"),
            (Person("ann", locale="de"), "America/New_York", "03:00 GMT-05:00, in 4 Tagen"),
            (None, "America/New_York", "3:00\u202fAM EST, in 4 days"),
            (None, None, "8:00\u202fAM UTC, in 4 days"),
        ],
        ids=["known", "zone unknown", "unknown", "nothing known"],
    )
    def test_it_is_written_for_whom_it_is_due(self, person: Person | None, zone: str | None, written: str) -> None:
        sources = {"m.subject.txt": "s", "m.txt": "{{ at | time }}, {{ at | relative }}"}
        sources |= {f"de/{name}": template for name, template in sources.items()}
        at = datetime(2027, 2, 13, 8, tzinfo=UTC)
        due = Due("m", "1", "ann", {}, due_at=NOW, now=NOW, number=1, zone=zone, person=person)
        found = Templates(sources).email_for(due, "m", {"at": at}, to="ann@example.net", reply_to="help@example.net")
        assert (found.text, found.reply_to) == (written, "help@example.net")

    @pytest.mark.parametrize("locale", ["", "english", "e", "../de", "de_AT.UTF-8"])
    def test_a_default_that_is_none_is_refused(self, locale: str) -> None:
        assert refused(RENEWAL, default_locale=locale).field == "default_locale"


class TestLoading:
    @pytest.mark.parametrize(
        ("sources", "field", "says"),
        [
            ({}, "templates", "there are none"),
            ({"m.txt": "t"}, None, ""),
            ({"m.subject.txt": "s"}, "m.subject.txt", "add m.txt"),
            ({"de/m.subject.txt": "s", "de/m.txt": "t"}, "m.subject.txt", "de needs a default"),
            ({"mails/m.subject.txt": "s", "mails/m.txt": "t"}, "mails/m.subject.txt", "no locale"),
            ({"a/b/m.subject.txt": "s", "a/b/m.txt": "t"}, "a/b/m.subject.txt", "no locale"),
            ({"a.txt": "1\n{{ x }"}, "a.txt:2", "unexpected"),
            ({"a.txt": "1\n{% if x %}"}, "a.txt:2", "correct the template"),
            ({"a.txt": "1\n2\n{{ x | uper }}"}, "a.txt:3", "filter uper is unknown"),
            ({"a.txt": "{% filter uper %}x{% endfilter %}"}, "a.txt:1", "filter uper is unknown"),
            ({"a.txt": "1\n{% if x is evn %}{% endif %}"}, "a.txt:2", "test evn is unknown"),
            ({"a.txt": "{# is evn #}\n\n{% if x is not evn %}{% endif %}"}, "a.txt:3", "test evn is unknown"),
            ({"a.txt": "{#\n{{\n#}\n{% if x is evn %}{% endif %}"}, "a.txt:4", "test evn is unknown"),
            ({"a.txt": "x\n{% include 'b.txt' %}"}, "a.txt:2", "unknown template 'b.txt'"),
            ({"a.html": "{% extends 'layot.html' %}", "layout.html": ""}, "a.html:1", "Did you mean 'layout.html'"),
            ({"a.html": '{%- from "m.html" import x %}'}, "a.html:1", "unknown template 'm.html'"),
            ({"a.txt": "{{ '}}' | uper }}"}, "a.txt:1", "filter uper is unknown"),
            ({"a.txt": "{{ '' " * 200}, "a.txt:1", "correct the template"),
            ({"a.txt": "{% set a = '' %}" * 200 + "{{ x | uper }}"}, "a.txt:1", "filter uper is unknown"),
            ({"a.txt": "{# # #}" * 200 + "{% set a = '%}' %}\n{{ x | uper }}"}, "a.txt:2", "filter uper is unknown"),
        ],
    )
    def test_what_is_wrong_is_said_when_they_are_loaded(
        self, sources: dict[str, str], field: str | None, says: str
    ) -> None:
        if field is None:
            Templates(sources)
            return
        found = refused(sources)
        assert (found.field, says in found.problem) == (field, True), found

    @pytest.mark.parametrize(
        "template",
        [
            "{{ 'a | b is c' }}",
            "{# {{ x | nothing }} #}",
            "{% raw %}{{ x | nothing }}{% endraw %}",
            "{% include 'none.txt' ignore missing %}",
            "{% if x is defined %}{{ x | upper | trim }}{% endif %}",
            "this | that is text",
        ],
    )
    def test_what_only_looks_wrong_is_loaded(self, template: str) -> None:
        text(template)

    def test_a_locale_whose_dates_nobody_knows_is_refused_where_there_are_dates(self) -> None:
        dated = {"m.subject.txt": "s", "m.txt": "{{ at | date }}"}
        assert refused(dated, default_locale="qq").field == "locale"
        assert refused({**dated, "qq/m.subject.txt": "s", "qq/m.txt": "t"}).field == "locale"
        Templates({"m.subject.txt": "s", "m.txt": "t"}, default_locale="qq")

    def test_a_folder_that_is_none_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidMessage, match="is not a folder"):
            Templates(tmp_path / "none")

    def test_a_file_that_is_not_utf_8_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "m.txt").write_bytes(b"f\xfcr")
        with pytest.raises(InvalidMessage, match=r"m\.txt: is not UTF-8 at byte 1"):
            Templates(tmp_path)

    def test_what_is_not_installed_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(environment, "find_spec", lambda name: None if name == "babel" else name)
        assert text("{{ 'a' | upper }}") == "A"
        with pytest.raises(MissingExtra, match=r"duebook\[i18n\]"):
            text("{{ at | date }}")
        monkeypatch.setattr(environment, "find_spec", lambda name: None)
        with pytest.raises(MissingExtra, match=r"duebook\[templates\]"):
            Templates(RENEWAL)


class TestRefusals:
    def test_a_value_that_is_missing_is_named_with_its_line(self) -> None:
        found = refusal("1\n{{ plan }}\n")
        assert (found.field, found.problem) == (
            "m.txt:2",
            "`plan` is undefined; pass it in `values`, or ask `is defined` first",
        )

    def test_a_value_within_a_value_that_is_missing_is_named(self) -> None:
        assert refusal("{{ plan.name }}", {"plan": {}}).field == "m.txt:1"

    def test_what_may_be_missing_is_asked_for(self) -> None:
        assert text("{% if plan is defined %}{{ plan }}{% endif %}{{ name | default('you') }}") == "you"

    @pytest.mark.parametrize(
        "template",
        [
            "\n{% for i in range(10000) %}{% for j in range(10000) %}a{% endfor %}{% endfor %}",
            "\n{{ 'a' * 10**10 }}",
            "\n{{ 'a' * 10**8 }}",
            "\n{{ '%1000000000d' | format(1) }}",
            "\n{% set n = namespace(x='aa') %}{% for i in range(64) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        ],
    )
    def test_a_template_that_takes_too_many_steps_is_stopped(self, template: str) -> None:
        found = refusal(template)
        assert (found.field, "too many steps" in found.problem) == ("m.txt:2", True)

    def test_a_list_of_a_thousand_items_is_written(self) -> None:
        rows = [{"name": f"Item {n}", "new": n % 2 == 0} for n in range(1_000)]
        row = "{{ loop.index }}. {{ row.name | upper }}{% if row.new %} *{% endif %}\n"
        template = f"{{% for row in rows %}}\n{row}{{% endfor %}}\n"
        assert text(template, {"rows": rows}).count("\n") == 1_000

    def test_a_filter_that_cannot_write_a_value_is_named_with_its_line_if_there_is_only_one(self) -> None:
        assert refusal("\n{{ at | date }}", {"at": 1}).field == "m.txt:2"
        assert refusal("\n{{ at | date }}\n{{ at | date }}", {"at": 1}).field == "m.txt"

    def test_a_macro_that_calls_itself_is_stopped(self) -> None:
        assert refusal("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").field.startswith("m.txt:1")

    def test_a_template_that_is_included_is_named_itself(self) -> None:
        sources = {"m.subject.txt": "s", "m.txt": "{% include 'part.txt' %}", "part.txt": "\n{{ plan }}"}
        with pytest.raises(InvalidMessage) as found:
            mail(sources)
        assert "`plan` is undefined (in part.txt:2)" in found.value.problem

    def test_a_template_that_is_extended_is_named_itself(self) -> None:
        sources = {"m.subject.txt": "s", "m.txt": "{% extends 'part.txt' %}", "part.txt": "\n{{ plan }}"}
        with pytest.raises(InvalidMessage) as found:
            mail(sources)
        assert found.value.field == "part.txt:2"

    def test_no_value_is_in_an_error(self) -> None:
        sources = {"m.subject.txt": "s", "m.txt": "{{ a }}{% include 'p.txt' %}", "p.txt": "{{ a }}{{ b }}{{ a / 2 }}"}
        for values in ({"a": "secret"}, {"a": "secret", "b": 1}):
            with pytest.raises(InvalidMessage) as found:
                mail(sources, values)
            assert "secret" not in str(found.value)

    def test_nothing_writes_every_value_into_a_mail(self) -> None:
        assert "debug" in refusal("{{ debug() }}", {"token": "secret"}).problem

    def test_a_mail_that_nobody_knows_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(InvalidMessage, match="Did you mean 'renewal'"):
            Templates(RENEWAL).email("renewals", VALUES, to="ann@example.net")

    def test_the_readers_name_is_not_a_values(self) -> None:
        assert refusal("{{ reader }}", {"reader": "Ann"}).field == "values"

    async def test_it_goes_to_review_and_nothing_is_sent(self) -> None:
        templates = Templates(RENEWAL)
        book = Duebook("sqlite://")
        book.add_channel("email", ConsoleChannel())

        @book.kind("renewal", channel="email")
        async def renewal(due: Due) -> Email:
            return templates.email("renewal", {"plan": "Pro"}, to="ann@example.net")

        with Timeline(book) as timeline:
            await book.schedule("renewal", "1", recipient="ann", after=timedelta(hours=1))
            assert await timeline.advance(hours=2) == []
            (await timeline.expecting("renewal", "1")).in_review(reason="renewal.txt:1: `name` is undefined")


class TestPages:
    @given(st.text(max_size=60))
    def test_no_value_becomes_markup(self, value: str) -> None:
        page = html("<p>{{ value }}</p>", {"value": value})
        inner = page.removeprefix("<p>").removesuffix("</p>")
        assert not set("<>\"'") & set(inner)

    def test_texts_are_not_escaped(self) -> None:
        assert text("{{ value }}", {"value": "R&D <b>"}) == "R&D <b>"

    def test_styles_are_moved_into_their_elements(self) -> None:
        page = html("<style>p { color: red } @media print { p { color: black } }</style><p>Grüße</p>")
        assert '<p style="color: red;">Grüße</p>' in page
        assert "@media print" in page

    def test_a_page_without_styles_stays_as_it_is(self) -> None:
        assert html("<p>a<br>b</p>") == "<p>a<br>b</p>"

    def test_nothing_is_loaded(self, tmp_path: Path) -> None:
        sheet = tmp_path / "a.css"
        sheet.write_text("p { color: red }")
        for link in (sheet.as_posix(), sheet.as_uri(), "http://127.0.0.1:1/a.css"):
            assert "red" not in html(f'<link rel="stylesheet" href="{link}"><style>b {{ top: 0 }}</style><p>a</p>')

    def test_pages_share_a_layout(self) -> None:
        layout = "<main>{% block main %}{% endblock %}</main>"
        page = "{% extends 'layout.html' %}{% block main %}{{ value }}{% endblock %}"
        assert html(page, {"value": "<"}, **{"layout.html": layout}) == "<main>&lt;</main>"
