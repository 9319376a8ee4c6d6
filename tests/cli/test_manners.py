"""What holds for every command: help, JSON, errors, exit codes, and no passwords."""

import json
import os
import sqlite3
from pathlib import Path

import pytest

from .support import deliver, duebook

AT = ("--at", "2030-01-14T09:00Z")
WHY = ("--reason", "why not")
EXPIRED = ("--expires-at", "2029-01-01T00:00Z")
TYPO = "Unknown kind 'renewl'. Did you mean 'renewal'?"
COMMANDS: dict[str, tuple[tuple[str, ...], int]] = {
    "schedule": (("renewal", "new", "--recipient", "ann", *AT), 0),
    "import": (("due.csv", "--kind", "renewal"), 0),
    "find": ((), 0),
    "explain": (("renewal", "lost-1"), 0),
    "cancel": (("renewal", "lost-1"), 1),
    "cancel-group": (("g",), 0),
    "reschedule": (("renewal", "far", *AT), 0),
    "send-now": (("renewal", "far"), 0),
    "redrive": (("renewal", "refused-1", *WHY, "--force"), 0),
    "drop": (("renewal", "lost-1", *WHY), 1),
    "resolve": (("renewal", "lost-1", "--as", "sent", *WHY), 0),
    "pause": (("--channel", "email"), 0),
    "resume": ((), 0),
    "mode": (("renewal", "shadow"), 0),
    "prune": (("--older-than", "1d"), 0),
    "forget": (("nobody",), 1),
    "status": (("--check",), 0),
    "doctor": ((), 0),
    "migrate": ((), 0),
    "schedules set": (("new", "--kind", "renewal", "--recipient", "ann", "--cron", "0 9 * * *", "--zone", "UTC"), 0),
    "schedules show": (("daily",), 0),
    "schedules list": ((), 0),
    "schedules pause": (("daily", *WHY), 0),
    "schedules resume": (("daily",), 0),
    "schedules remove": (("daily",), 0),
    "deadlines list": ((), 0),
    "missed": ((), 0),
    "people show": (("ann",), 1),
    "people set": (("ann", "--zone", "UTC"), 0),
    "people opt-out": (("ann", "--kind", "renewal"), 0),
    "people opt-in": (("ann",), 1),
    "receipts show": (("renewal", "lost-1"), 0),
    "suppressions list": ((), 0),
    "suppressions add": (("email", "ann@example.com", *WHY), 0),
    "suppressions remove": (("email", "ann@example.com"), 1),
    "review": ((), 0),
    "upcoming": (("--until", "1d"), 0),
    "retime": (("--dry-run",), 0),
}
ELSEWHERE = {
    "worker", "demo", *(f"deadlines {verb}" for verb in ("set", "show", "complete", "import")),
    *(f"when {what}" for what in ("cron", "rrule", "every", "wall")),
}  # fmt: skip


def test_the_help_lists_every_command_and_exit_code() -> None:
    said = duebook("--help").out
    for name in COMMANDS.keys() | ELSEWHERE:
        group, _, verb = name.rpartition(" ")
        assert f" {verb} " in (duebook(group, "--help").out if group else said)
    for code in (0, 1, 2, 3, 4, 70, 130):
        assert f" {code}  " in said
    assert duebook().code == 2


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() | ELSEWHERE))
def test_every_command_teaches_by_example(name: str) -> None:
    said = duebook(*name.split(), "--help")
    assert said.code == 0
    _, _, examples = said.out.partition("For example")
    assert f"duebook {name}" in examples


@pytest.fixture
def busy_url(url: str, tmp_path: Path) -> str:
    for key in ("lost-1", "refused-1"):
        duebook("schedule", "renewal", key, "--recipient", "ann", "--after", "0s")
    deliver(url, 2)
    duebook("schedule", "renewal", "far", "--recipient", "ann", "--after", "1d")
    duebook("schedules", "set", "daily", *COMMANDS["schedules set"][0][1:])
    (tmp_path / "due.csv").write_text("key,recipient,at\nrow,ann,2030-01-14T09:00Z\n")
    return url


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_document(busy_url: str, name: str) -> None:
    arguments, code = COMMANDS[name]
    answer = duebook(*name.split(), *arguments, "--json")
    assert (answer.code, answer.err) == (code, "")
    assert isinstance(answer.json, dict)


@pytest.mark.parametrize("name", COMMANDS)
def test_errors_are_one_document_too(tmp_path: Path, name: str) -> None:
    arguments, _ = COMMANDS[name]
    answer = duebook(*name.split(), *arguments, "--json", "--database", "mysql://ann:hunter2@host/x")
    assert (answer.code, answer.out) == (2, "")
    assert answer.failure["field"] == "url"
    assert "hunter2" not in answer.err


@pytest.mark.parametrize(
    ("arguments", "said", "field"),
    [
        (("schedule", "renewl", "k", "--recipient", "a", *AT), TYPO, "kind"),
        (("find", "--kind", "renewl"), TYPO, "kind"),
        (("explain", "renewl", "k"), TYPO, "kind"),
        (("pause", "--channel", "emial"), "Unknown channel 'emial'. Did you mean 'email'?", "channel"),
        (("statsu",), "No such command 'statsu'. Did you mean 'status'?", None),
        (("mode", "renewal", "sideways"), "'sideways' is not one of", "mode"),
        (("schedule", "renewal", "k", "--recipient", "a"), "say when", "at"),
        (("schedule", "renewal", "k", "--recipient", "a", "--after", "soon"), "such as 90s", "after"),
        (("schedule", "renewal", "k", "--recipient", "a", "--at", "2030-01-14 09:00"), "has no time zone", "at"),
        (("schedule", "renewal", "k", "--recipient", "a\n", *AT), "control character", "recipient"),
        (("schedule", "renewal", "k", "--recipient", "a", *AT, "--zone", "Europe/Berlin"), "drop one of them", "at"),
        (("schedule", "renewal", "k", "--recipient", "a", *AT, "--data", "[]"), "must be a JSON object", "data"),
        (("schedule", "renewal", "k", "--recipient", "a", *AT, *EXPIRED), "could never be sent", "expires_at"),
        (
            ("schedule", "renewal", "k", "--recipient", "a", "--at", "2030-03-10 02:30", "--zone", "America/New_York",
             "--rule", "raise"), "does not exist in America/New_York", "at",
        ),
        (("prune",), "--older-than 90d", "older_than"),
        (("find", "renewal"), "is missing", "key"),
        (("explain",), "say of whom", "key"),
        (("status", "--app", "no_such_module:book"), "no module 'no_such_module'", "app"),
    ],
)  # fmt: skip
def test_bad_input_names_field_and_fix(url: str, arguments: tuple[str, ...], said: str, field: str | None) -> None:
    answer = duebook(*arguments, "--json")
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.failure["error"]
    assert answer.failure["field"] == field
    assert said in duebook(*arguments).err


def test_a_database_that_is_not_there(empty_url: str, tmp_path: Path) -> None:
    nobody = duebook("status", "--database", "postgresql://ann:s3cret@127.0.0.1:1/x")
    assert nobody.code == 3
    assert "Connect" in nobody.err
    assert "s3cret" not in nobody.err

    missing = duebook("status", "--database", empty_url)
    assert (missing.code, "duebook migrate" in missing.err) == (3, True)
    assert not (tmp_path / "book.db").exists()

    (tmp_path / "book.db").write_bytes(b"")
    assert "Run: duebook migrate" in duebook("find", "--database", empty_url).err
    (tmp_path / "book.db").write_text("a text that is no database, long enough to look like one" * 20)
    strange = duebook("status", "--database", empty_url)
    assert (strange.code, "not a database" in strange.err) == (3, True)

    assert "no database given" in duebook("status").err
    unreadable = duebook("status", "--database", "postgresql://ann:pass/word@host/x")
    assert (unreadable.code, "word" in unreadable.err.replace("password", "")) == (2, False)


def test_postgres_says_what_it_refuses(postgres_url: str) -> None:
    answer = duebook("status", "--database", postgres_url.rpartition("/")[0] + "/there_is_no_such_database")
    assert answer.code == 3
    assert "PostgreSQL" in answer.err


def test_an_app_that_breaks_says_where(url: str, tmp_path: Path) -> None:
    (tmp_path / "broken_shop.py").write_text("import os\n\nbook = os.environ['NOT_THERE_AT_ALL']\n")
    answer = duebook("status", "--app", "broken_shop:book")
    assert answer.code == 2
    assert "KeyError: 'NOT_THERE_AT_ALL' (broken_shop.py, line 3)" in answer.err


def test_the_app_is_the_source_of_kinds_and_policies(url: str, app: str) -> None:
    made = duebook("schedule", "renewal", "k", "--recipient", "ann", *AT, "--app", app)
    assert (made.code, made.err) == (0, "")
    found = duebook("find", "renewal", "k", "--app", app, "--json").json["notifications"][0]
    assert found["expires_at"] == "2030-01-16T09:00:00Z"
    assert duebook("prune", "--app", app).out == "Nothing is old enough.\n"
    near = duebook("status", "--app", app.replace(":book", ":bok"))
    assert "Did you mean 'book'?" in near.err
    assert os.environ["DUEBOOK_URL"] == url


def test_migrating(empty_url: str, postgres_url: str) -> None:
    first = duebook("migrate", "--database", empty_url, "--json").json
    assert (len(first["applied"]), first["schema"]) == (first["schema"], first["schema"])
    assert duebook("migrate", "--database", empty_url, "--json").json["applied"] == []

    sqlite = duebook("migrate", "--sql", "--database", "sqlite:///elsewhere.db")
    assert "create table duebook_notifications" in sqlite.out
    assert not Path("elsewhere.db").exists()
    postgres = duebook("migrate", "--sql", "--database", postgres_url).out
    assert "create table duebook.notifications" in postgres
    assert postgres.count("insert into duebook.migrations") == first["schema"]
    documents = duebook("migrate", "--sql", "--since", "1000", "--database", empty_url, "--json")
    assert json.loads(documents.out)["migrations"] == []


def test_the_printed_sql_makes_the_tables(empty_url: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "book.db") as connection:
        connection.executescript(duebook("migrate", "--sql", "--database", empty_url).out)
    connection.close()
    assert duebook("status", "--database", empty_url).code == 0
