-- Note which kinds a worker serves, so that programs without handlers can schedule them and orphans show.
insert into duebook_kinds (kind, channel, priority, seen_at)
select kind, channel, priority, :now
from (
    select value ->> 'kind' as kind, value ->> 'channel' as channel, value ->> 'priority' as priority
    from json_each(:rows)
) as r
where true
order by kind
on conflict (kind) do update set
    channel = excluded.channel, priority = excluded.priority, seen_at = excluded.seen_at
returning kind
