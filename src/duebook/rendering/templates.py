"""Mails from templates."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

from ..domain.attachment import Attachment
from ..domain.decision import Due
from ..domain.message import Email
from ..errors import InvalidMessage, UnknownName
from .catalog import Mail, catalog, read
from .environment import READER, loaded, localizes, render
from .locales import fallbacks, is_locale, same_language
from .localized import Reader, known_locale
from .styles import inlined


class Fields(TypedDict, total=False):
    """What an Email takes beside its recipient and its content."""

    to_name: str | None
    sender: str | None
    sender_name: str | None
    reply_to: str | None
    headers: Mapping[str, str]
    attachments: Sequence[Attachment]
    channel: str | None


class Templates:
    """Mails from templates, all of them checked when they are loaded.

    `source`: a folder, or a mapping of paths to texts. A mail is `NAME.subject.txt`, `NAME.txt` and perhaps
    `NAME.html`; those for other locales lie in folders named by them, such as `de` or `de-AT`. Other `.txt` and `.html`
    files can be extended, included and imported, by their whole path. `default_locale`: of the mails that lie in no
    such folder.

    Raises InvalidMessage that names template, line and fix for one that cannot be read, that names a filter, test or
    template nobody knows, and for a mail that is not whole; MissingExtra without the packages it needs.
    """

    def __init__(self, source: Mapping[str, str] | str | os.PathLike[str], *, default_locale: str = "en") -> None:
        if not is_locale(default_locale):
            raise InvalidMessage("default_locale", f"{default_locale!r} is no locale such as en or de-AT")
        self._default_locale = default_locale
        sources = read(source)
        self._catalog = catalog(sources)
        self._environment = loaded(sources)
        if localizes(sources):
            for locale in (default_locale, *sorted({folder for folder, _ in self._catalog if folder})):
                known_locale(locale)

    def email(
        self,
        name: str,
        values: Mapping[str, Any],
        *,
        to: str,
        locale: str | None = None,
        zone: str | None = None,
        now: datetime | None = None,
        **fields: Unpack[Fields],
    ) -> Email:
        """Return the mail called `name`, written with these values.

        `locale`: whose mail is taken, `de-AT` before `de` before the default. `zone`: by whose clock times are written;
        UTC if it is not known. `now`: what relative times count from. `fields`: of the Email.

        Raises InvalidMessage that names template, line and fix for a value that is missing and for a template that
        takes too many steps; raised in a handler, it sends the notification to review.
        """
        if READER in values:
            raise InvalidMessage("values", f"{READER!r} is whom the mail is for; name the value otherwise")
        mail, written_in = self._choose(name, locale)
        context = {**values, READER: Reader(written_in, zone or "UTC", now)}
        return Email(
            to=to,
            subject=render(self._environment, mail.subject, context),
            text=render(self._environment, mail.text, context),
            html=mail.html and inlined(mail.html, render(self._environment, mail.html, context)),
            **fields,
        )

    def email_for(self, due: Due, name: str, values: Mapping[str, Any], *, to: str, **fields: Unpack[Fields]) -> Email:
        """Return the mail called `name` for the person something is due for, at this moment.

        In their locale and by their clock, as far as they are known; else in the default locale, and by the clock of
        the promise if it is a local one. All else is as in `email`.
        """
        locale, zone = (due.person.locale, due.person.zone) if due.person else (None, None)
        return self.email(name, values, to=to, locale=locale, zone=zone or due.zone, now=due.now, **fields)

    def _choose(self, name: str, locale: str | None) -> tuple[Mail, str]:
        """Return a mail, and the locale its times and numbers are written in: never that of another language."""
        wanted = locale or self._default_locale
        for tag in fallbacks(wanted):
            if (mail := self._catalog.get((tag, name))) is not None:
                return mail, wanted
        if (mail := self._catalog.get(("", name))) is None:
            problem = UnknownName("template", name, {known for _, known in self._catalog}).problem
            raise InvalidMessage("name", problem)
        return mail, wanted if same_language(wanted, self._default_locale) else self._default_locale
