-- Put intents on record before the wire is touched. Fenced by version, by a lease that still runs, by pauses, and by
-- addresses that are written to no more: who wants less, or none, is heard by every worker at once.
update duebook_notifications as n set
    state = 'sending', event = 'begin', version = n.version + 1, moved_at = r.at, number = r.number, begun_at = r.at,
    first_begun_at = coalesce(r.first_begun_at, r.at), message = r.message,
    rendered_at = coalesce(r.rendered_at, r.at)
from (
    select value ->> 'id' as id, value ->> 'version' as version, value ->> 'number' as number,
        value ->> 'at' as at, value ->> 'message' as message, value ->> 'rendered_at' as rendered_at,
        value ->> 'first_begun_at' as first_begun_at, value ->> 'address' as address
    from json_each(:rows)
) as r
where n.id = r.id and n.version = r.version - 1 and n.lease_until > r.at
    and (r.address is null or not exists (
        select 1 from duebook_suppressions s
        where s.channel = :channel and s.address = r.address and s.scope in ('everything', n.kind)))
    and not exists (
        select 1 from duebook_controls c
        where c.scope in ('everything', 'channel:' || :channel, 'kind:' || n.kind)
            and (c.paused_at is not null or c.paused_until > :now))
returning id
