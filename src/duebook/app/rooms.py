"""The rooms a book offers, each in both forms, and what holds them together."""

from __future__ import annotations

from functools import cached_property

from ..features.context import Context
from ..features.deadlines import Deadlines
from ..features.digests import DigestRoom
from ..features.notifications import Notifications
from ..features.people import PeopleRoom
from ..features.receipts import ReceiptRoom
from ..features.schedules import Schedules
from ..features.unread import UnreadRoom
from .twins import AsyncRoom, AsyncRunner, SyncRoom, SyncRunner, awaited, direct


class AsyncSchedules(AsyncRoom[Schedules]):
    """Recurring schedules, awaited."""

    set = awaited(Schedules.set)
    set_many = awaited(Schedules.set_many)
    pause = awaited(Schedules.pause)
    resume = awaited(Schedules.resume)
    remove = awaited(Schedules.remove)
    find = awaited(Schedules.find)
    search = awaited(Schedules.search)
    missed = awaited(Schedules.missed)


class SyncSchedules(SyncRoom[Schedules]):
    """Recurring schedules, for programs without an event loop."""

    set = direct(Schedules.set)
    set_many = direct(Schedules.set_many)
    pause = direct(Schedules.pause)
    resume = direct(Schedules.resume)
    remove = direct(Schedules.remove)
    find = direct(Schedules.find)
    search = direct(Schedules.search)
    missed = direct(Schedules.missed)


class AsyncDeadlines(AsyncRoom[Deadlines]):
    """Deadlines, awaited."""

    set = awaited(Deadlines.set)
    set_many = awaited(Deadlines.set_many)
    complete = awaited(Deadlines.complete)
    find = awaited(Deadlines.find)
    search = awaited(Deadlines.search)


class SyncDeadlines(SyncRoom[Deadlines]):
    """Deadlines, for programs without an event loop."""

    set = direct(Deadlines.set)
    set_many = direct(Deadlines.set_many)
    complete = direct(Deadlines.complete)
    find = direct(Deadlines.find)
    search = direct(Deadlines.search)


class AsyncUnread(AsyncRoom[UnreadRoom]):
    """Unread messages, awaited."""

    posted = awaited(UnreadRoom.posted)
    mark_read = awaited(UnreadRoom.mark_read)
    deleted = awaited(UnreadRoom.deleted)
    state = awaited(UnreadRoom.state)


class SyncUnread(SyncRoom[UnreadRoom]):
    """Unread messages, for programs without an event loop."""

    posted = direct(UnreadRoom.posted)
    mark_read = direct(UnreadRoom.mark_read)
    deleted = direct(UnreadRoom.deleted)
    state = direct(UnreadRoom.state)


class AsyncDigests(AsyncRoom[DigestRoom]):
    """Digests, awaited."""

    add = awaited(DigestRoom.add)
    add_many = awaited(DigestRoom.add_many)
    search = awaited(DigestRoom.search)
    find = awaited(DigestRoom.find)
    item = awaited(DigestRoom.item)
    selection = awaited(DigestRoom.selection)
    waiting = awaited(DigestRoom.waiting)
    due = awaited(DigestRoom.due)
    preview = awaited(DigestRoom.preview)
    undelivered = awaited(DigestRoom.undelivered)


class SyncDigests(SyncRoom[DigestRoom]):
    """Digests, for programs without an event loop."""

    add = direct(DigestRoom.add)
    add_many = direct(DigestRoom.add_many)
    search = direct(DigestRoom.search)
    find = direct(DigestRoom.find)
    item = direct(DigestRoom.item)
    selection = direct(DigestRoom.selection)
    waiting = direct(DigestRoom.waiting)
    due = direct(DigestRoom.due)
    preview = direct(DigestRoom.preview)
    undelivered = direct(DigestRoom.undelivered)


class AsyncReceipts(AsyncRoom[ReceiptRoom]):
    """Receipts and suppressions, awaited."""

    record = awaited(ReceiptRoom.record)
    of = awaited(ReceiptRoom.of)
    suppress = awaited(ReceiptRoom.suppress)
    unsuppress = awaited(ReceiptRoom.unsuppress)
    suppressions = awaited(ReceiptRoom.suppressions)


class SyncReceipts(SyncRoom[ReceiptRoom]):
    """Receipts and suppressions, for programs without an event loop."""

    record = direct(ReceiptRoom.record)
    of = direct(ReceiptRoom.of)
    suppress = direct(ReceiptRoom.suppress)
    unsuppress = direct(ReceiptRoom.unsuppress)
    suppressions = direct(ReceiptRoom.suppressions)


class AsyncPeople(AsyncRoom[PeopleRoom]):
    """People's wishes, awaited."""

    set = awaited(PeopleRoom.set)
    find = awaited(PeopleRoom.find)
    opt_out = awaited(PeopleRoom.opt_out)
    opt_in = awaited(PeopleRoom.opt_in)
    unsubscribe = awaited(PeopleRoom.unsubscribe)


class SyncPeople(SyncRoom[PeopleRoom]):
    """People's wishes, for programs without an event loop."""

    set = direct(PeopleRoom.set)
    find = direct(PeopleRoom.find)
    opt_out = direct(PeopleRoom.opt_out)
    opt_in = direct(PeopleRoom.opt_in)
    unsubscribe = direct(PeopleRoom.unsubscribe)


class AsyncVerbs(AsyncRoom[Notifications]):
    """The verbs, awaited."""

    def __init__(self, context: Context, runner: AsyncRunner) -> None:
        super().__init__(Notifications(context), runner)
        self._context = context

    @cached_property
    def schedules(self) -> AsyncSchedules:
        """Recurring schedules."""
        return AsyncSchedules(Schedules(self._context), self._runner)

    @cached_property
    def deadlines(self) -> AsyncDeadlines:
        """Deadlines, and the reminders of them."""
        return AsyncDeadlines(Deadlines(self._context), self._runner)

    @cached_property
    def unread(self) -> AsyncUnread:
        """Messages that are reminded of unless they are read."""
        return AsyncUnread(UnreadRoom(self._context), self._runner)

    @cached_property
    def digests(self) -> AsyncDigests:
        """What is told together, once for each period."""
        return AsyncDigests(DigestRoom(self._context), self._runner)

    @cached_property
    def receipts(self) -> AsyncReceipts:
        """What providers say later, and addresses that are written to no more."""
        return AsyncReceipts(ReceiptRoom(self._context), self._runner)

    @cached_property
    def people(self) -> AsyncPeople:
        """Where and how people want to be reached, and what they do not want."""
        return AsyncPeople(PeopleRoom(self._context), self._runner)

    schedule = awaited(Notifications.schedule)
    schedule_many = awaited(Notifications.schedule_many)
    record_sent = awaited(Notifications.record_sent)
    cancel = awaited(Notifications.cancel)
    cancel_group = awaited(Notifications.cancel_group)
    reschedule = awaited(Notifications.reschedule)
    send_now = awaited(Notifications.send_now)
    find = awaited(Notifications.find)
    search = awaited(Notifications.search)
    search_address = awaited(Notifications.search_address)
    explain = awaited(Notifications.explain)
    redrive = awaited(Notifications.redrive)
    drop = awaited(Notifications.drop)
    resolve = awaited(Notifications.resolve)
    pause = awaited(Notifications.pause)
    resume = awaited(Notifications.resume)
    set_mode = awaited(Notifications.set_mode)
    controls = awaited(Notifications.controls)
    backlog = awaited(Notifications.backlog)
    forget = awaited(Notifications.forget)


class SyncVerbs(SyncRoom[Notifications]):
    """The verbs for programs without an event loop."""

    def __init__(self, context: Context, runner: SyncRunner) -> None:
        super().__init__(Notifications(context), runner)
        self._context = context

    @cached_property
    def schedules(self) -> SyncSchedules:
        """Recurring schedules."""
        return SyncSchedules(Schedules(self._context), self._runner)

    @cached_property
    def deadlines(self) -> SyncDeadlines:
        """Deadlines, and the reminders of them."""
        return SyncDeadlines(Deadlines(self._context), self._runner)

    @cached_property
    def unread(self) -> SyncUnread:
        """Messages that are reminded of unless they are read."""
        return SyncUnread(UnreadRoom(self._context), self._runner)

    @cached_property
    def digests(self) -> SyncDigests:
        """What is told together, once for each period."""
        return SyncDigests(DigestRoom(self._context), self._runner)

    @cached_property
    def receipts(self) -> SyncReceipts:
        """What providers say later, and addresses that are written to no more."""
        return SyncReceipts(ReceiptRoom(self._context), self._runner)

    @cached_property
    def people(self) -> SyncPeople:
        """Where and how people want to be reached, and what they do not want."""
        return SyncPeople(PeopleRoom(self._context), self._runner)

    schedule = direct(Notifications.schedule)
    schedule_many = direct(Notifications.schedule_many)
    record_sent = direct(Notifications.record_sent)
    cancel = direct(Notifications.cancel)
    cancel_group = direct(Notifications.cancel_group)
    reschedule = direct(Notifications.reschedule)
    send_now = direct(Notifications.send_now)
    find = direct(Notifications.find)
    search = direct(Notifications.search)
    search_address = direct(Notifications.search_address)
    explain = direct(Notifications.explain)
    redrive = direct(Notifications.redrive)
    drop = direct(Notifications.drop)
    resolve = direct(Notifications.resolve)
    pause = direct(Notifications.pause)
    resume = direct(Notifications.resume)
    set_mode = direct(Notifications.set_mode)
    controls = direct(Notifications.controls)
    backlog = direct(Notifications.backlog)
    forget = direct(Notifications.forget)
