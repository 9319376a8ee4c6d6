"""The template engine with our settings and filters, and every template in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra, UnknownName
from .catalog import HTML, SUBJECT
from .checks import Reference, references
from .faults import at, fault
from .line_breaks import kept
from .localized import FILTERS

if TYPE_CHECKING:
    from minijinja import Environment
    from minijinja._lowlevel import State

FUEL = 200_000
"""How many steps a template may take. A list of a thousand items takes about twenty thousand; text that is repeated,
joined or replaced counts by its length."""

READER = "reader"
"""The variable that holds whom a mail is for: `reader.locale`, `reader.zone`, `reader.now`."""


def loaded(sources: Mapping[str, str]) -> Environment:
    """Return an environment that holds these templates, checked.

    Raises InvalidMessage for what is wrong with one, and MissingExtra for a package that one of them needs.
    """
    named = {name: list(references(text)) for name, text in sources.items()}
    environment = _empty()
    for name, function in FILTERS.items():
        environment.add_filter(name, _filter(name, function, named))
    for name, text in sources.items():
        _add(environment, name, text)
    for name, found in named.items():
        for reference in found:
            _check(environment, sources, name, reference)
    return environment


def localizes(sources: Mapping[str, str]) -> bool:
    """Say whether any of these templates writes a time or a number as its reader does."""
    found = (reference for text in sources.values() for reference in references(text))
    return any(reference.sort == "filter" and reference.name in FILTERS for reference in found)


def render(environment: Environment, name: str, context: Mapping[str, Any]) -> str:
    """Return a template written with these values. Raises InvalidMessage naming template, line and fix."""
    from minijinja import TemplateError

    try:
        return environment.render_template(name, **context)
    except TemplateError as error:
        raise fault(name, error) from None


def _empty() -> Environment:
    for package in ("minijinja", "css_inline"):
        if find_spec(package) is None:
            raise MissingExtra("writing mails from templates", "templates")
    from minijinja import Environment

    environment = Environment(
        fuel=FUEL,
        undefined_behavior="strict",
        auto_escape_callback=lambda name: name.endswith(HTML),
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        debug=True,  # only then an error names the variable that is missing
    )
    # It would write every value into the mail.
    environment.remove_global("debug")
    return environment


def _filter(name: str, function: Callable[..., str], named: Mapping[str, Sequence[Reference]]) -> Callable[..., str]:
    from minijinja import pass_state

    @pass_state
    def called(state: State, *arguments: Any, **options: Any) -> str:
        try:
            return function(state.lookup(READER), *arguments, **options)
        except (TypeError, ValueError, OverflowError) as error:  # an InvalidInput is a ValueError
            raise at(state.name, _line(name, named.get(state.name, ())), f"{name}: {error}") from None

    return called


def _line(name: str, references: Sequence[Reference]) -> int | None:
    """Return the line of a filter if there is only one that it can be: the engine does not say where it is."""
    lines = {reference.line for reference in references if (reference.sort, reference.name) == ("filter", name)}
    return lines.pop() if len(lines) == 1 else None


def _add(environment: Environment, name: str, text: str) -> None:
    from minijinja import TemplateError

    try:
        # The line break that an editor leaves at the end of a subject is no part of it.
        environment.add_template(name, kept(text.rstrip() if name.endswith(SUBJECT) else text))
    except TemplateError as error:
        raise fault(name, error) from None


def _check(environment: Environment, sources: Mapping[str, str], name: str, reference: Reference) -> None:
    """Raise InvalidMessage for a name that nobody knows: rendering would notice it only when it comes there."""
    from minijinja import TemplateError

    if reference.sort == "template":
        if reference.name not in sources:
            raise at(name, reference.line, UnknownName("template", reference.name, sources).problem)
    elif reference.sort == "filter" and reference.name in FILTERS:
        if find_spec("babel") is None:
            raise MissingExtra(f"the filter {reference.name!r} in {name}", "i18n")
    else:
        try:
            environment.eval_expr(f"none {'|' if reference.sort == 'filter' else 'is'} {reference.name}")
        except TemplateError as error:
            if error.kind in ("UnknownFilter", "UnknownTest"):
                raise fault(name, error, reference.line) from None
