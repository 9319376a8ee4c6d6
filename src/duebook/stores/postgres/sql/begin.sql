-- Put intents on record before the wire is touched. Fenced by version, by a lease that still runs, by pauses, and by
-- addresses that are written to no more: who wants less, or none, is heard by every worker at once.
update duebook.notifications as n set
    state = 'sending', event = 'begin', version = n.version + 1, moved_at = r.at, number = r.number, begun_at = r.at,
    first_begun_at = coalesce(r.first_begun_at, r.at), message = r.message,
    rendered_at = coalesce(r.rendered_at, r.at)
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    id bigint, version integer, number integer, at timestamptz, message text, rendered_at timestamptz,
    first_begun_at timestamptz, address text)
where n.id = r.id and n.version = r.version - 1 and n.lease_until > r.at
    and (r.address is null or not exists (
        select 1 from duebook.suppressions s
        where s.channel = :channel and s.address = r.address and s.scope in ('everything', n.kind)))
    and not exists (
        select 1 from duebook.controls c
        where c.scope in ('everything', 'channel:' || :channel, 'kind:' || n.kind)
            and (c.paused_at is not null or c.paused_until > cast(:now as timestamptz)))
returning n.id
