-- Make sure that recipients have a cursor each, mark when there is something to close, and hold them: who adds items and
-- who closes a period take turns. In the order of their names, so that two never deadlock.
insert into duebook.digest_cursors as c (kind, recipient, tenant, namespace, zone, open_from, next_close_at)
select kind, recipient, tenant, namespace, zone, open_from, next_close_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, tenant text, namespace text, zone text, open_from timestamptz,
    next_close_at timestamptz)
order by kind collate "C", recipient collate "C"
on conflict (kind, recipient) do update set
    zone = excluded.zone, tenant = excluded.tenant,
    open_from = least(c.open_from, excluded.open_from),
    next_close_at = least(c.next_close_at, excluded.next_close_at)
returning kind, recipient
