-- A page of notifications with their identities, attempts and history, for an audit: all as one statement sees it, so
-- that a notification that moves meanwhile is seen before or after its move and never half-way.
select
    n.id, n.kind, n.key, n.recipient, n.channel, n.state, n.event, n.version, n.wake_at, n.lease_until, n.attention_at,
    n.review_at, n.closed_at, n.holder, n.number, n.doubt, n.wanted, coalesce(n.reason, '') <> '', n.basis,
    n.message is not null, n.begun_at, n.data = '{}', n.pruned,
    n.basis = 'evidence' and exists (
        select 1 from duebook.evidence e where e.notification_id = n.id and e.says = 'accepted'),
    (select json_agg(json_build_array(i.notification_id, i.recipient))::text
    from duebook.identities i where i.kind = n.kind and i.key = n.key),
    (select json_agg(json_build_array(a.number, a.outcome, a.resolution))::text
    from duebook.attempts a where a.notification_id = n.id),
    (select json_agg(json_build_array(h.version, h.event, h.state, h.next))::text
    from duebook.history h where h.notification_id = n.id)
from duebook.notifications n
where n.id > :after and n.id <= :until
order by n.id
limit :limit
