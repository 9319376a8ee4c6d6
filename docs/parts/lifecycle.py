"""The lifecycle: its diagram, its table, its sets."""

from __future__ import annotations

from collections.abc import Iterable

from duebook.domain.lifecycle import CLOSED, EDGES, NEEDS_CERTAINTY, State

from .tables import table


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
