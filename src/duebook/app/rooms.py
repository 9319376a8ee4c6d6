"""The rooms a book offers, each in both forms, and what holds them together."""

from __future__ import annotations

from ..features.context import Context
from ..features.notifications import Notifications
from .twins import AsyncRoom, AsyncRunner, SyncRoom, SyncRunner, awaited, direct


class AsyncVerbs(AsyncRoom[Notifications]):
    """The verbs, awaited."""

    def __init__(self, context: Context, runner: AsyncRunner) -> None:
        super().__init__(Notifications(context), runner)

    schedule = awaited(Notifications.schedule)
    schedule_many = awaited(Notifications.schedule_many)
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

    schedule = direct(Notifications.schedule)
    schedule_many = direct(Notifications.schedule_many)
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
