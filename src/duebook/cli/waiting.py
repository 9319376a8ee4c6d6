"""What waits for a person: which attempt it was, how far it got, what was said, and what is at risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ..domain.lifecycle import State
from ..domain.notification import Attempt, Notification
from ..domain.story import Story
from . import documents
from .options import Channel, KindOption
from .output import Reply, Table, plain
from .program import command
from .session import Session
from .wording import first_line, instant


@dataclass(frozen=True, slots=True)
class Question:
    """One that waits. `attempt`: the last one in doubt, or the last one made; None where nothing was tried."""

    n: Notification
    attempt: Attempt | None

    @property
    def at_risk(self) -> str:
        if self.n.state is State.REVIEW:
            return "it was not sent; as it is, nobody is told"
        wanted = f"; but for the doubt it would be {self.n.wanted.value}" if self.n.wanted else ""
        return f"a second copy if it is sent again, nobody told if it is not{wanted}"

    @property
    def said(self) -> str:
        reported = self.attempt.reason if self.attempt and self.n.state is State.UNCERTAIN else None
        return reported or self.n.reason or ""


@command("Reviewers", "duebook review", "duebook review --kind renewal --limit 100")
async def review(
    session: Session,
    kind: KindOption = None,
    channel: Channel = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="At most this many of each state.")] = 20,
) -> Reply:
    """List what waits for a person, the uncertain first: which attempt, how far it got, what was said, what is at risk.

    duebook explain tells the whole story of one; resolve, redrive and drop end it.
    """
    if kind is not None:
        await session.kind(kind)
    questions: list[Question] = []
    more = False
    for state in (State.UNCERTAIN, State.REVIEW):
        found = await session.search(kind=kind, state=state, channel=channel, limit=limit + 1)
        more = more or len(found) > limit
        stories = [await session.verbs.explain(n.kind, n.key) for n in found[:limit]]
        questions += [question for story in stories if story and (question := _question(story, state))]
    document = {"waiting": [_document(question) for question in questions], "more": more}
    if not questions:
        return Reply(document, ["Nothing waits for a person."])
    return Reply(document, [_table(questions), *(["There are more (--limit)."] if more else [])])


def _question(story: Story, state: State) -> Question | None:
    """Return what a story asks, or None where it has moved on meanwhile."""
    if story.notification is None or story.notification.state is not state:
        return None
    tried = story.doubtful or story.attempts
    return Question(story.notification, tried[-1] if tried else None)


def _document(question: Question) -> dict[str, Any]:
    own = documents.notification(question.n, bodies=False)
    return {**own, "attempt": plain(question.attempt), "at_risk": question.at_risk}


def _table(questions: Sequence[Question]) -> Table:
    headers = ["identity", "state", "since", "attempt", "outcome", "phase", "what was said", "at risk"]
    return Table(headers, [_row(question) for question in questions])


def _row(question: Question) -> list[str]:
    n, attempt = question.n, question.attempt
    tried = [str(attempt.number), attempt.outcome, attempt.phase or ""] if attempt else ["none", "", ""]
    said = first_line(question.said, 80)
    return [f"{n.kind}/{n.key}", n.state.value, instant(n.moved_at), *tried, said, question.at_risk]
