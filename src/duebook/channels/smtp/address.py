"""E-mail addresses: checked for their form, with the domain in the ASCII form that every server takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...errors import InvalidMessage


@dataclass(frozen=True, slots=True)
class Address:
    """An address of good form. `domain` is always ASCII; `local` may not be, and then needs SMTPUTF8."""

    local: str
    domain: str

    @property
    def needs_smtputf8(self) -> bool:
        return not self.local.isascii()

    def __str__(self) -> str:
        return f"{self.local}@{self.domain}"


@lru_cache(maxsize=4_096)
def parse(field: str, text: str, *, intranet: bool = False) -> Address:
    """Return the address that `text` holds; raises InvalidMessage if it holds none.

    A domain with letters outside ASCII becomes punycode, which a server without SMTPUTF8 takes as well
    (pallets-eco/flask-mail#28). Nothing is looked up. `intranet` also takes names that only a company's own
    relay can know, such as `ann@mail` and `ann@corp.local`.
    """
    from email_validator import EmailNotValidError, validate_email

    # The library refuses reserved names such as "local" always; below a public name it judges their form alone.
    suffix = ".example.com" if intranet else ""
    try:
        found = validate_email(text + suffix, strict=True, allow_smtputf8=True, check_deliverability=False)
    except EmailNotValidError as error:
        raise InvalidMessage(field, f"{text!r} is not an e-mail address: {error}") from None
    return Address(str(found.local_part), str(found.ascii_domain).removesuffix(suffix))
