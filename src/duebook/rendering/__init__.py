"""Mails from templates, for handlers. Nothing else in duebook imports this.

`templates` is the entrance. `catalog` finds the files and puts them together to mails; `locales` says what falls back
to what. `environment` holds them in the template engine: `line_breaks` keeps their lines apart, `checks` reads what
they name, `faults` says what is wrong with one. `localized` writes times and numbers as their reader does, and `styles`
moves rules of style to where mail programs heed them.
"""

from .templates import Templates

__all__ = ["Templates"]
