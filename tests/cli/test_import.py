"""CSV files: what is stored, and what is said of rows that cannot be."""

from pathlib import Path

import pytest

from .support import duebook

HEAD = "key,recipient,at,zone,plan\n"
GOOD = 'k1,ann,2030-01-14 09:00,America/New_York,team\nk2,ben,2030-01-14T09:00+01:00,,"solo, monthly"\n'
BAD = (
    ",ann,2030-01-14 09:00,America/New_York,team\n"
    "k4,ann,2030-01-14 09:00,America/New_Yrok,team\n"
    "k5,ann,2030-01-14 09:00,,team\n"
    "k6,ann,14 January,,team\n"
    "\n"
    "k7,ann,2030-01-14,Europe/Berlin,team\n"
    "k8,ann\n"
)


def write(path: Path, text: str, encoding: str = "utf-8") -> str:
    path.write_text(text, encoding=encoding)
    return str(path)


def test_good_rows_are_stored_once(url: str, tmp_path: Path) -> None:
    file = write(tmp_path / "due.csv", HEAD + GOOD, "utf-8-sig")
    first = duebook("import", file, "--kind", "renewal")
    assert (first.code, first.out) == (0, "Created 2; 0 existed already.\n")
    assert "without --app" in first.err
    assert duebook("import", file, "--kind", "renewal").out == "Created 0; 2 existed already.\n"
    found = duebook("find", "renewal", "k2", "--json").json["notifications"][0]
    assert (found["due_at"], found["data"]) == ("2030-01-14T08:00:00Z", {"plan": "solo, monthly"})


def test_bad_rows_are_told_with_line_field_and_fix(url: str, tmp_path: Path) -> None:
    file = write(tmp_path / "due.csv", HEAD + GOOD + BAD)
    answer = duebook("import", file, "--kind", "renewal", "--json")
    assert answer.code == 1
    assert (answer.json["created"], answer.json["rows"]) == (2, 8)
    said = [(bad["line"], bad["field"]) for bad in answer.json["bad"]]
    assert said == [(4, "key"), (5, "zone"), (6, "at"), (7, "at"), (9, "at"), (10, "row")]
    told = duebook("import", file, "--kind", "renewal").out
    assert f"{file}, line 5: zone: unknown zone 'America/New_Yrok'. Did you mean 'America/New_York'?" in told
    assert "has no time of day" in told
    assert "Created 0; 2 existed already, 6 bad rows." in told


def test_strict_stores_all_or_none(url: str, tmp_path: Path) -> None:
    file = write(tmp_path / "due.csv", HEAD + GOOD + BAD)
    answer = duebook("import", file, "--kind", "renewal", "--strict")
    assert answer.code == 2
    assert "Nothing was stored: 6 rows of 8 cannot be (--strict)." in answer.out
    assert duebook("find").out == "None found.\n"
    assert duebook("import", write(tmp_path / "good.csv", HEAD + GOOD), "--kind", "renewal", "--strict").code == 0


def test_strict_refuses_what_exists_when_asked(url: str, tmp_path: Path) -> None:
    duebook("schedule", "renewal", "k2", "--recipient", "ben", "--after", "1d")
    file = write(tmp_path / "due.csv", HEAD + GOOD)
    answer = duebook("import", file, "--kind", "renewal", "--strict", "--if-exists", "raise")
    assert (answer.code, "renewal/k2 is already scheduled" in answer.err) == (1, True)
    assert duebook("find", "renewal", "k1").code == 1
    assert duebook("import", file, "--kind", "renewal", "--if-exists", "raise").code == 2


def test_a_dry_run_counts_and_stores_nothing(url: str, tmp_path: Path) -> None:
    duebook("schedule", "renewal", "k2", "--recipient", "ben", "--after", "1d")
    file = write(tmp_path / "due.csv", HEAD + GOOD + GOOD.replace("k1", "k2"))
    answer = duebook("import", file, "--kind", "renewal", "--dry-run")
    assert "Would create 1; 3 existed already." in answer.out
    assert "3 exist with another time and stay as they are" in answer.out
    assert duebook("find", "renewal", "k1").code == 1


def test_another_time_in_the_file_moves_it_when_asked(url: str, tmp_path: Path) -> None:
    duebook("schedule", "renewal", "k2", "--recipient", "ben", "--after", "1d")
    file = write(tmp_path / "due.csv", HEAD + GOOD)
    answer = duebook("import", file, "--kind", "renewal", "--if-exists", "reschedule")
    assert answer.out == "Created 1; 1 existed already, of which 1 changed.\n"


def test_columns_kind_data_and_semicolons(url: str, tmp_path: Path) -> None:
    text = 'Kind;Key;Recipient;At;data\nrenewal;k;ann;2030-01-14T09:00Z;"{""n"": 1}"\nrenewl;k;ann;2030-01-14T09:00Z;\n'
    answer = duebook("import", write(tmp_path / "due.csv", text))
    assert "line 3: kind: unknown kind 'renewl'. Did you mean 'renewal'?" in answer.out
    assert duebook("find", "renewal", "k", "--json").json["notifications"][0]["data"] == {"n": 1}


def test_more_than_one_chunk(url: str, tmp_path: Path) -> None:
    rows = "".join(f"k{number},ann,2030-01-14T09:00Z,,x\n" for number in range(1_201))
    answer = duebook("import", write(tmp_path / "due.csv", HEAD + rows), "--kind", "renewal", "--json").json
    assert (answer["created"], answer["stored"]) == (1_201, True)


def test_what_is_no_utf8_spoils_its_own_row(url: str, tmp_path: Path) -> None:
    (tmp_path / "due.csv").write_bytes(HEAD.encode() + GOOD.replace("team", "café").encode("latin-1"))
    answer = duebook("import", str(tmp_path / "due.csv"), "--kind", "renewal")
    assert "line 2: plan: is not UTF-8; save the file as UTF-8" in answer.out
    assert "Created 1;" in answer.out


def test_an_open_quote_says_where_reading_ended(url: str, tmp_path: Path) -> None:
    file = write(tmp_path / "due.csv", HEAD + GOOD + '"k3,ann,2030-01-14 09:00,Europe/Berlin,x\nk4,a,b,c,d\n')
    answer = duebook("import", file, "--kind", "renewal")
    assert "line 4: row:" in answer.out
    assert "is a quote left open?" in answer.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; its first line must name the columns"),
        ("key,recipent,at\n", "no column 'recipient'. Is it 'recipent'?"),
        ("key,key,recipient,at\n", "names the column 'key' twice"),
        ("key,recipient,at,\n", "column 4 has no name"),
    ],
)
def test_a_wrong_header_is_refused(url: str, tmp_path: Path, text: str, said: str) -> None:
    answer = duebook("import", write(tmp_path / "due.csv", text), "--kind", "renewal")
    assert (answer.code, said in answer.err) == (2, True)


def test_a_file_needs_a_kind_and_has_to_be_there(url: str, tmp_path: Path) -> None:
    assert "give --kind" in duebook("import", write(tmp_path / "due.csv", HEAD)).err
    assert duebook("import", "none.csv", "--kind", "renewal").err == (
        "Error: file: cannot open none.csv: No such file or directory\n"
    )
