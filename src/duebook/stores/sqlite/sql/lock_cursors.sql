-- Make sure that recipients have a cursor each, mark when there is something to close, and hold them: who adds items and
-- who closes a period take turns. In the order of their names, so that two never deadlock.
insert into duebook_digest_cursors as c (kind, recipient, tenant, namespace, zone, open_from, next_close_at)
select value ->> 'kind', value ->> 'recipient', value ->> 'tenant', value ->> 'namespace', value ->> 'zone',
    value ->> 'open_from', value ->> 'next_close_at'
from json_each(:rows)
where true
on conflict (kind, recipient) do update set
    zone = excluded.zone, tenant = excluded.tenant,
    open_from = min(coalesce(c.open_from, excluded.open_from), excluded.open_from),
    next_close_at = min(coalesce(c.next_close_at, excluded.next_close_at), excluded.next_close_at)
returning kind, recipient
