"""Writes the parts of these pages that the code already says, so that they cannot differ from it.

    python docs/generate.py            write them
    python docs/generate.py --check    say which pages are out of date, and exit 1

A page marks such a part with `<!-- generated: NAME -->` and `<!-- end -->`. What stands between is replaced by what
the function NAME (with dashes for underscores) answers here. Everything else in a page is written by hand.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import runpy
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, fields
from datetime import time, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import duebook
from duebook import errors
from duebook.app.rooms import AsyncVerbs
from duebook.channels.brevo import Brevo
from duebook.channels.capabilities import Capabilities
from duebook.channels.catch_all import CatchAll
from duebook.channels.chat_room import ChatRoom
from duebook.channels.console import ConsoleChannel
from duebook.channels.discord import Discord
from duebook.channels.file import FileChannel
from duebook.channels.function import FunctionChannel
from duebook.channels.http.api import EmailApi
from duebook.channels.http.meaning import Meaning
from duebook.channels.mailgun import Mailgun
from duebook.channels.mattermost import Mattermost
from duebook.channels.postmark import Postmark
from duebook.channels.resend import Resend
from duebook.channels.sendgrid import SendGrid
from duebook.channels.ses import Ses
from duebook.channels.slack import Slack
from duebook.channels.sms import TwilioSms
from duebook.channels.smtp import Smtp
from duebook.channels.teams import Teams
from duebook.channels.webhook import WebhookChannel
from duebook.channels.webpush import WebPush
from duebook.cli.exits import MEANINGS
from duebook.domain import attachment, deciding, message, policy, recovery, retry, text
from duebook.domain.lifecycle import CLOSED, EDGES, NEEDS_CERTAINTY, State
from duebook.domain.policy import (
    AttentionLimit,
    ChannelPolicy,
    DeadlinePolicy,
    DigestPolicy,
    Kind,
    Retention,
    UnreadPolicy,
)
from duebook.domain.retry import Backoff
from duebook.engine.settings import EngineSettings
from duebook.features import drafting
from duebook.queues.http import HttpQueue
from duebook.queues.nats import NatsQueue
from duebook.queues.rabbitmq import RabbitmqQueue
from duebook.queues.redis import RedisQueue
from duebook.queues.servicebus import ServiceBusQueue
from duebook.queues.sqs import SqsQueue

EMAIL_APIS: tuple[type[EmailApi], ...] = (Resend, Postmark, SendGrid, Mailgun, Ses, Brevo)
CHAT_ROOMS: tuple[type[ChatRoom], ...] = (Slack, Mattermost, Discord, Teams)
REFUSING: tuple[type[EmailApi | TwilioSms | ChatRoom], ...] = (*EMAIL_APIS, TwilioSms, *CHAT_ROOMS)
LOCAL = (FileChannel, ConsoleChannel, FunctionChannel)

MEANINGS_OF_REFUSALS: dict[Meaning, str] = {
    "message": "`Rejected`",
    "account": "`Retry`: it refuses us, not the message",
    "unsent": "`Retry`: it did not take the message",
    "throttle": "`Throttled`",
    "unknown": "`Uncertain`",
}

DOCS = Path(__file__).parent
PART = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)

VARIABLES = {
    "DUEBOOK_URL": "the database, for `Duebook()` without a URL and for every command without `--database`",
    "DUEBOOK_NAMESPACE": 'the namespace, for `Duebook()` without one; `"default"` if unset',
    "DUEBOOK_QUEUE": "the broker, for `Duebook()` without a queue and for every command; none if unset",
    "DUEBOOK_APP": "`module:book`, for every command without `--app` and `--database`",
}


# The lifecycle


def lifecycle_diagram() -> str:
    labels: dict[tuple[State, State], list[str]] = {}
    for edge in EDGES:
        labels.setdefault((edge.state, edge.next), []).append(edge.event)
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> scheduled: schedule"]
    lines += [f"    {state} --> {after}: {', '.join(events)}" for (state, after), events in labels.items()]
    return "\n".join([*lines, "```"])


def lifecycle_table() -> str:
    rows = [[f"`{e.state}`", f"`{e.event}`", f"`{e.next}`", e.who.replace(",", ", "), e.why] for e in EDGES]
    return table(["state", "event", "next", "who", "why"], rows)


def lifecycle_sets() -> str:
    return (
        f"Closed, no worker looks at them again: {names(CLOSED)}.\n"
        f"Demand that no attempt is in doubt: {names(NEEDS_CERTAINTY)}."
    )


def names(states: Iterable[State]) -> str:
    return ", ".join(f"`{state}`" for state in State if state in set(states))


# Settings


def settings_kind() -> str:
    return settings(Kind, skip={"name", "channel"})


def settings_channel() -> str:
    return settings(ChannelPolicy, skip={"name"})


def settings_backoff() -> str:
    return settings(Backoff)


def settings_retention() -> str:
    return settings(Retention)


def settings_deadline_policy() -> str:
    return settings(DeadlinePolicy)


def settings_unread_policy() -> str:
    return settings(UnreadPolicy)


def settings_digest_policy() -> str:
    return settings(DigestPolicy)


def settings_attention_limit() -> str:
    return settings(AttentionLimit)


def settings_engine() -> str:
    return settings(EngineSettings)


def settings_smtp() -> str:
    return constructor(Smtp)


def settings_webhook() -> str:
    return constructor(WebhookChannel)


def settings_email_api() -> str:
    parameters = [each for each in parameters_of(EmailApi) if each.name != "secrets"]
    rows = [
        [f"`{each.name}`", "the provider's" if each.name == "base_url" else shown_default(each)] for each in parameters
    ]
    return f"{inspect.cleandoc(EmailApi.__doc__ or '')}\n\n{table(['argument', 'default'], rows)}"


def settings_email_apis() -> str:
    return "\n\n".join(f"### {each.__name__}\n\n{constructor(each)}" for each in EMAIL_APIS)


def settings_webpush() -> str:
    return constructor(WebPush)


def settings_sms() -> str:
    return constructor(TwilioSms)


def settings_chat_room() -> str:
    return constructor(ChatRoom)


def settings_chat_rooms() -> str:
    return "\n\n".join(f"### {each.__name__}\n\n{inspect.cleandoc(each.__doc__ or '')}" for each in CHAT_ROOMS)


def settings_catch_all() -> str:
    return constructor(CatchAll)


def settings_book() -> str:
    return constructor(duebook.Duebook)


def settings(kind: type[Any], skip: Iterable[str] = ()) -> str:
    """Return docstring, defaults and bounds of a dataclass; the bounds are what its `__post_init__` refuses."""
    bounds = refused(kind)
    hints = get_type_hints(kind)
    rows = []
    for field in fields(kind):
        if field.name not in set(skip):
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            limits = [*bounds.get(field.name, []), *choices(hints[field.name])]
            rows.append([f"`{field.name}`", value(default), "; ".join(limits)])
    said = inspect.cleandoc(kind.__doc__ or "").replace("Lengths of time say their bounds in `__post_init__`.", "")
    everywhere = [f"`{kind.__name__}` as a whole: {limit}." for limit in bounds.get("", [])]
    return "\n\n".join(part for part in (said.strip(), table(["name", "default", "bounds"], rows), *everywhere) if part)


def refused(kind: type[Any]) -> dict[str, list[str]]:
    """Return what `__post_init__` demands, by field; what names no field of its own is under ""."""
    if not hasattr(kind, "__post_init__"):
        return {}
    constants = {name: str(value) for name, value in vars(sys.modules[kind.__module__]).items() if name.isupper()}
    known = {field.name for field in fields(kind)}
    found: dict[str, list[str]] = {}
    for name, demand in demands(ast.parse(textwrap.dedent(inspect.getsource(kind.__post_init__))), constants):
        field = name.rpartition(".")[2]
        own = field if field in known else next((each for each in sorted(known) if demand.startswith(each)), "")
        said = demand.removeprefix(f"{own} ") if own and own != field else demand
        found.setdefault(own, []).append(re.sub(r"^must (not )?(be |satisfy )?", r"\1", said))
    return found


def demands(node: ast.AST, given: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield (field, demand) of each check in a function, with loops over constants unrolled."""
    if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and isinstance(node.iter, ast.Tuple):
        for item in node.iter.elts:
            for statement in node.body:
                yield from demands(statement, {**given, node.target.id: ast.literal_eval(item)})
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        first = written(node.args[0], given) if node.args else ""
        zero = any(keyword.arg == "zero" for keyword in node.keywords)
        match node.func.id:
            case "InvalidInput":
                yield first, written(node.args[1], given)
            case "UnsafeSetting":
                yield "", first
            case "checked_span":
                yield first, "a length of time, zero allowed" if zero else "a positive length of time"
    for child in ast.iter_child_nodes(node):
        yield from demands(child, given)


def written(node: ast.AST, given: dict[str, str]) -> str:
    """Return the text of a constant or of an f-string over known names."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part, given) for part in node.values)
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return given.get(node.value.id, "…")
    return "…"


def choices(hint: Any) -> list[str]:
    if get_origin(hint) is Literal:
        return ["one of " + ", ".join(f'`"{choice}"`' for choice in get_args(hint))]
    if hint is policy.Priority:
        return ["one of " + ", ".join(f'`"{each.name.lower()}"`' for each in policy.Priority)]
    return []


def constructor(kind: type[Any]) -> str:
    """Return docstring and parameters of a class."""
    rows = [[f"`{each.name}`", shown_default(each)] for each in parameters_of(kind)]
    return f"{inspect.cleandoc(kind.__doc__ or '')}\n\n{table(['argument', 'default'], rows)}"


def parameters_of(kind: type[Any]) -> list[inspect.Parameter]:
    """Return the parameters that a class takes by a name of their own."""
    return [each for each in inspect.signature(kind).parameters.values() if each.kind is not each.VAR_KEYWORD]


def shown_default(parameter: inspect.Parameter) -> str:
    return "required" if parameter.default is parameter.empty else value(parameter.default)


def value(default: Any) -> str:
    """Return a default as a person writes it."""
    match default:
        case _ if default is MISSING:
            return "required"
        case None:
            return "none"
        case timedelta():
            return span(default)
        case policy.Priority():
            return f'`"{default.name.lower()}"`'
        case Backoff() | Retention():
            return f"`{type(default).__name__}()`, below"
        case float():
            return f"{default:g}"
        case str():
            return f'`"{default}"`'
        case ():
            return "none"
        case tuple():
            return ", ".join(map(value, default))
        case time():
            return f"{default:%H:%M}"
    return str(default)


def span(length: timedelta) -> str:
    seconds = length.total_seconds()
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size and seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {name}{'s' if count != 1 else ''}"
    return f"{seconds:g} seconds" if seconds != 1 else "1 second"


def limits() -> str:
    rows = [
        ["name of a kind, channel, namespace or tenant", f"{text.NAME_CHARACTERS} characters"],
        ["key, group", f"{text.KEY_CHARACTERS} characters"],
        ["recipient", f"{text.RECIPIENT_CHARACTERS} characters"],
        ["reason given to a verb", f"{text.REASON_CHARACTERS:,} characters; longer is refused"],
        ["reason from a provider", f"{text.REASON_CHARACTERS:,} characters; longer is cut"],
        ["traceback of a handler", f"{text.TRACEBACK_CHARACTERS:,} characters; longer is cut"],
        ["`data`", f"{drafting.DATA_BYTES // 1024} KiB of JSON"],
        ["a rendered message", f"{message.MESSAGE_BYTES // 1024:,} KiB of JSON"],
        ["text of an SMS", f"{message.SMS_CHARACTERS:,} characters"],
        ["attachments of a mail", f"{attachment.MOST_ATTACHMENTS}"],
        ["attachments of a mail together", f"{attachment.ATTACHED_BYTES // 1_048_576} MiB"],
        ["`at`, `after`", f"{drafting.FARTHEST.days // 365} years away"],
        ["a `Defer` without `until`", span(deciding.DEFERRAL)],
        ["the smallest step of a `Defer`", span(deciding.SMALLEST_DEFERRAL)],
        ["the smallest delay of a retry", span(retry.FLOOR)],
        ["the longest `Retry-After` that is obeyed", span(retry.WISH_CEILING)],
        ["how much of a key window is left unused", span(deciding.KEY_WINDOW_MARGIN)],
        ["how often an unresolved doubt is looked at again", span(recovery.LOOK_AGAIN)],
    ]
    return table(["what", "limit"], rows)


def environment() -> str:
    source = "".join(path.read_text(encoding="utf-8") for path in (DOCS.parent / "src").rglob("*.py"))
    used = sorted(set(re.findall(r"DUEBOOK_[A-Z]+", source)))
    if unknown := set(used) ^ VARIABLES.keys():
        raise SystemExit(f"docs/generate.py: say in VARIABLES what {', '.join(sorted(unknown))} means")
    return table(["variable", "means"], [[f"`{name}`", VARIABLES[name]] for name in used])


# Channels


def channel_capabilities() -> str:
    rows = []
    for kind in (*EMAIL_APIS, Smtp, WebPush, TwilioSms, *CHAT_ROOMS, CatchAll, WebhookChannel, *LOCAL):
        can: Capabilities = getattr(kind, "capabilities", Capabilities())
        stated = {"key_window", "policy"} & {each.name for each in parameters_of(kind)}
        rows.append([
            f"`{kind.__name__}`",
            "as you state" if stated else span(can.key_window) if can.key_window else "no",
            str(can.key_characters or ""),
            can.looked_up_by,
            "yes" if can.absence_is_proof else "no",
            can.receipts or "none",
            can.server_errors,
            "yes" if can.attachments else "no",
        ])  # fmt: skip
    headers = [
        "channel", "a repeat makes no second copy", "longest key", "looked up by", "absence is proof",
        "receipts verified by", "its 5xx", "attachments",
    ]  # fmt: skip
    return table(headers, rows)


def provider_matrix() -> str:
    """Return the table that tests/channels/test_http_matrix.py forces."""
    matrix = runpy.run_path(str(DOCS.parent / "tests/channels/http_matrix.py"))
    return table(["", *matrix["PROVIDERS"]], [[phase, *outcomes] for phase, outcomes in matrix["rows"]()])


def provider_errors() -> str:
    parts = []
    for each in REFUSING:
        codes = [[f"`{code}`", MEANINGS_OF_REFUSALS[meaning]] for code, meaning in each.refusals.codes.items()]
        statuses = [[f"HTTP {status}", MEANINGS_OF_REFUSALS[said]] for status, said in each.refusals.statuses.items()]
        parts.append(f"### {each.__name__}\n\n<{each.refusals.page}>\n\n{table(['error', 'means'], codes + statuses)}")
    return "\n\n".join(parts)


# Queues


def queue_constructors() -> str:
    parts = []
    for kind in (RedisQueue, RabbitmqQueue, NatsQueue, SqsQueue, ServiceBusQueue, HttpQueue):
        package = kind.__module__.removesuffix(".queue")
        parts.append(f"## {kind.__name__}\n\n`from {package} import {kind.__name__}`\n\n{constructor(kind)}")
    return "\n\n".join(parts)


# Errors, exit codes, names


def errors_tree() -> str:
    tree = inspect.cleandoc(errors.__doc__ or "").partition("\n\n")[2]
    classes = [
        each
        for each in vars(errors).values()
        if inspect.isclass(each) and each.__module__ == errors.__name__ and issubclass(each, errors.DuebookError)
    ]
    rows = [[f"`{each.__name__}`", inspect.cleandoc(each.__doc__ or "")] for each in classes]
    return f"```text\n{tree}\n```\n\n{table(['error', 'means'], rows)}"


def exit_codes() -> str:
    return table(["code", "name", "means"], [[str(code.value), code.name, said] for code, said in MEANINGS.items()])


def public_names() -> str:
    return table(["name", "is"], [[f"`{name}`", own_doc(getattr(duebook, name))] for name in duebook.__all__])


def own_doc(thing: Any) -> str:
    """Return the first paragraph of a docstring; an alias of a union says its parts."""
    if get_args(thing):
        return "one of " + ", ".join(f"`{part.__name__}`" for part in get_args(thing))
    return " ".join(inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0].split())


def verbs() -> str:
    return "\n\n".join(one_verb(name, verb) for name, verb in vars(AsyncVerbs).items() if not is_other(name, verb))


def is_other(name: str, verb: Any) -> bool:
    return name.startswith("_") or isinstance(verb, cached_property)


def rooms() -> str:
    """Return the verbs of each room beside the notifications: of schedules, of deadlines and of their like."""
    parts = []
    for room, made in vars(AsyncVerbs).items():
        if isinstance(made, cached_property):
            parts.append(f"## `book.{room}`\n\n{own_doc(made.func)}")
            verbs_of_room = vars(get_type_hints(made.func)["return"]).items()
            parts += [one_verb(f"{room}.{name}", verb) for name, verb in verbs_of_room if not is_other(name, verb)]
    return "\n\n".join(parts)


def one_verb(name: str, verb: Any) -> str:
    signature = re.sub(r": '([^']*)'", r": \1", str(inspect.signature(verb)).partition(" -> ")[0])
    called = re.sub(r"^\(self(, )?", "(", signature)
    return f"### `{name}`\n\n```text\n{wrapped(name, called)}\n```\n\n{inspect.cleandoc(verb.__doc__ or '')}"


def wrapped(name: str, called: str) -> str:
    if len(name + called) <= 100:
        return name + called
    arguments = re.split(r", (?![^\[]*\])", called[1:-1])
    return f"{name}(\n" + "\n".join(f"    {each}," for each in arguments) + "\n)"


# The command line


def commands() -> dict[str, Any]:
    """Return every command by its name, such as "find" or "schedules set".

    The modules of the package register them when they are imported.
    """
    from typer.main import get_command

    import duebook.cli

    for module in pkgutil.iter_modules(duebook.cli.__path__, "duebook.cli."):
        importlib.import_module(module.name)
    top: Any = get_command(importlib.import_module("duebook.cli.program").program)
    return dict(sorted(within("", top)))


def within(before: str, group: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a group, those of its own groups under two words."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            for inner, command in within(f"{before}{name} ", each):
                command.rich_help_panel = each.rich_help_panel
                yield inner, command
        else:
            yield f"{before}{name}", each


def cli_list() -> str:
    rows = [
        [f"[`{name}`](#{name.replace(' ', '-')})", str(each.rich_help_panel or ""), first_sentence(each.help)]
        for name, each in sorted(commands().items(), key=lambda item: (str(item[1].rich_help_panel), item[0]))
    ]
    return table(["command", "for", "does"], rows)


def cli_commands() -> str:
    return "\n\n".join(one_command(name, each) for name, each in commands().items())


def one_command(name: str, each: Any) -> str:
    words, _, examples = (each.help or "").partition("[bold]For example[/bold]")
    arguments = [p for p in each.params if not p.opts[0].startswith("-")]
    rows = [
        [f"`{p.opts[0] if p.opts[0].startswith('-') else shown(p)}`", option_help(p)]
        for p in each.params
        if p.name not in ("database", "app", "json")
    ]
    usage = " ".join([name, *(shown(p) if p.required else f"[{shown(p)}]" for p in arguments), "[OPTIONS]"])
    parts = [f"## `{name}`", f"`duebook {usage}`", words.strip()]
    if rows:
        parts.append(table(["argument", "means"], rows))
    parts.append("```sh\n" + "\n".join(line.strip() for line in examples.strip().splitlines()) + "\n```")
    return "\n\n".join(parts)


def shown(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def option_help(parameter: Any) -> str:
    said = str(parameter.help or "")
    hint = parameter.type_descriptor.annotation
    if get_origin(hint) is Literal and parameter.opts[0].startswith("-"):
        said += f" One of {', '.join(f'`{choice}`' for choice in get_args(hint))}."
    if parameter.required and parameter.opts[0].startswith("-"):
        said += " Required."
    elif parameter.default not in (None, False, "", []) and not callable(parameter.default):
        said += f" Default: `{parameter.default}`."
    return said


def first_sentence(words: str | None) -> str:
    return " ".join((words or "").split("\n\n")[0].split())


# Putting it in


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def filled(page: str) -> str:
    """Return a page with every generated part as the code has it now."""

    def part(found: re.Match[str]) -> str:
        return f"{found[1]}\n{globals()[found[2].replace('-', '_')]()}\n\n{found[3]}"

    return PART.sub(part, page)


def main(arguments: Sequence[str]) -> int:
    stale = []
    for path in sorted(DOCS.rglob("*.md")):
        now = path.read_text(encoding="utf-8")
        new = filled(now)
        if new != now:
            stale.append(path.relative_to(DOCS.parent).as_posix())
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    if stale:
        sys.stdout.write(
            "".join(f"{'out of date' if '--check' in arguments else 'written'}: {each}\n" for each in stale)
        )
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
