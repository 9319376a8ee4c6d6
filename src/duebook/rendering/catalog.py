"""Which files there are, and which of them make up a mail."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ..errors import InvalidMessage
from .locales import is_locale, normal

SUBJECT, TEXT, HTML = ".subject.txt", ".txt", ".html"


class Mail(NamedTuple):
    """The names of the templates of one mail in one locale."""

    subject: str
    text: str
    html: str | None


Catalog = Mapping[tuple[str, str], Mail]
"""Mails by the normal name of their locale, empty for the default, and by their own."""


def read(source: Mapping[str, str] | str | os.PathLike[str]) -> dict[str, str]:
    """Return every template by its path below the folder, with `/`; a mapping is taken as it is.

    Raises InvalidMessage for a folder without templates, and for a file that is not UTF-8.
    """
    found = dict(source) if isinstance(source, Mapping) else _files(Path(source))
    if not found:
        raise InvalidMessage("templates", "there are none; a mail is NAME.subject.txt, NAME.txt and perhaps NAME.html")
    return found


def catalog(names: Iterable[str]) -> Catalog:
    """Return the mails that the templates of these names make up.

    Raises InvalidMessage for a mail without a text or without a default, and for one in a folder of no locale.
    """
    known = frozenset(names)
    found = {}
    for subject in sorted(name for name in known if name.endswith(SUBJECT)):
        path = subject.removesuffix(SUBJECT)
        folder, _, name = path.rpartition("/")
        if folder and not is_locale(folder):
            raise InvalidMessage(subject, f"{folder!r} is no locale such as de-AT; move it to a folder that is, or up")
        if path + TEXT not in known:
            raise InvalidMessage(subject, f"has no text beside it; add {path}{TEXT}")
        found[normal(folder), name] = Mail(subject, path + TEXT, path + HTML if path + HTML in known else None)
    for folder, name in found:
        if ("", name) not in found:
            raise InvalidMessage(f"{name}{SUBJECT}", f"is missing; {folder} needs a default beside it")
    return found


def _files(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise InvalidMessage("templates", f"{folder} is not a folder")
    paths = sorted(path for path in folder.rglob("*") if path.suffix in (TEXT, HTML))
    return {path.relative_to(folder).as_posix(): _text(path) for path in paths}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidMessage(path.name, f"is not UTF-8 at byte {error.start}; save it as UTF-8") from None
