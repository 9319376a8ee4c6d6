-- Write what schedules are now, their places in time included. Fenced by version: whoever changed one first wins.
update duebook.schedules as s set
    kind = r.kind, recipient = r.recipient, tenant = r.tenant, data = cast(r.data as jsonb),
    recurrence = cast(r.recurrence as jsonb), zone = r.zone, catch_up = r.catch_up,
    max_lateness_seconds = r.max_lateness_seconds, most = r.most, until_at = r.until_at, cursor_at = r.cursor_at,
    next_at = r.next_at, paused_at = r.paused_at, reason = r.reason, changed_at = r.changed_at,
    changed_by = r.changed_by, version = s.version + 1
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    name text, kind text, recipient text, tenant text, data text, recurrence text, zone text, catch_up text,
    max_lateness_seconds bigint, most integer, until_at timestamptz, version integer, cursor_at timestamptz,
    next_at timestamptz, paused_at timestamptz, reason text, changed_at timestamptz, changed_by text)
where s.name = r.name and s.version = r.version
returning s.name
