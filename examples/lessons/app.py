"""Prompts before lessons: the module of a school's application that uses duebook.

    duebook worker app:book

A prompt carries the name of its lesson and nothing else. What the lesson is called, whether it takes place, and over
which channel its pupil is reached, is read when the prompt is due.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import outbox
import school

from duebook import (
    Backoff,
    Due,
    Duebook,
    Email,
    Message,
    New,
    Outcome,
    Push,
    Reject,
    Rejected,
    SendContext,
    Skip,
    Sms,
)
from duebook.rendering import Templates

AHEAD = timedelta(minutes=10)

book = Duebook(os.environ.get("DUEBOOK_URL", "sqlite:///lessons.db"), namespace="lessons")
templates = Templates(Path(__file__).with_name("templates"), default_locale="en")


# Three providers. Each has a lane of its own, so that an outage of one holds up nothing of the others.


@book.channel("email")
def email(message: Email, context: SendContext) -> Outcome:
    return outbox.deliver("email", message.to, f"{message.subject}\n\n{message.text}", context)


@book.channel("sms")
def sms(message: Sms, context: SendContext) -> Outcome:
    return outbox.deliver("sms", message.to, message.text, context)


@book.channel("push")
def push(message: Push, context: SendContext) -> Outcome:
    return outbox.deliver("push", message.to, message.title, context)


# Where a prompt lies until it is due and its pupil's wish is read. No provider is behind it, so it never rests: with
# "email" in its place, an outage of the mails would hold up those who are to be told by SMS.
@book.channel("desk")
async def desk(message: Message, context: SendContext) -> Outcome:
    return Rejected("nobody is reached at the desk")


# Soon after its time a prompt is worth little: it is tried twice, and then the policy in redrive.py looks at it.
@book.kind("prompt", channel="desk", channels=school.CHANNELS, retry=Backoff(attempts=2))
def prompt(due: Due) -> Message | Skip | Reject:
    if (reason := school.why_worthless(due.data["lesson"], due.now)) is not None:
        return Skip(reason)
    if due.person is None or not {"email", due.channel} <= due.person.addresses.keys():
        return Reject(f"nobody knows how to reach {due.recipient}: note addresses and a preferred channel")
    lesson = school.lesson(due.data["lesson"])
    values = {"title": lesson.title, "room": lesson.room, "starts_at": lesson.starts_at}
    mail = templates.email_for(due, "prompt", values, to=due.person.addresses["email"])
    address = due.person.addresses[due.channel]
    # The subject says all that has room on a telephone.
    match due.channel:
        case "sms":
            return Sms(to=address, text=mail.subject)
        case "push":
            return Push(to=address, title=mail.subject)
        case _:
            return mail


def prompts(lesson: school.Lesson, pupils: Iterable[school.Pupil]) -> list[New]:
    """Return what is to be promised of a lesson: one prompt for each pupil, worth nothing once the lesson is over."""
    return [
        New(
            kind="prompt",
            key=f"{lesson.lesson}/{pupil.pupil}",
            recipient=pupil.pupil,
            at=lesson.starts_at - AHEAD,
            expires_at=lesson.ends_at,
            data={"lesson": lesson.lesson},
        )
        for pupil in pupils
    ]


def note(pupil: school.Pupil) -> None:
    """Tell duebook where a pupil is reached, in which language, and how they would rather be."""
    book.sync.people.set(
        pupil.pupil,
        zone=school.ZONE,
        locale=pupil.language,
        addresses={"email": pupil.email, "sms": pupil.phone, "push": pupil.device},
        preferred=pupil.reached_by,
    )


def prefer(pupil: str, channel: str) -> None:
    """Reach a pupil over another channel from now on, also for what was promised long ago."""
    note(school.prefer(pupil, channel))


def open_school() -> int:
    """Create the school and tell duebook of its pupils; answers how many are new."""
    enrolled = school.create()
    for pupil in school.pupils():
        note(pupil)
    return enrolled


if __name__ == "__main__":
    book.sync.migrate()
    print(open_school(), "pupils are enrolled")
    book.sync.close()
