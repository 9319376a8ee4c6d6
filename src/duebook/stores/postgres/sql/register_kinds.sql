-- Note which kinds a worker serves, so that programs without handlers can schedule them and orphans show.
insert into duebook.kinds (kind, channel, priority, seen_at)
select kind, channel, priority, cast(:now as timestamptz)
from jsonb_to_recordset(cast(:rows as jsonb)) as r(kind text, channel text, priority smallint)
order by kind
on conflict (kind) do update set
    channel = excluded.channel, priority = excluded.priority, seen_at = excluded.seen_at
returning kind
