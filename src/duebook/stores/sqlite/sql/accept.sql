-- Make the commonest move of all, from sending to accepted, with what it needs and no more. Fenced as in apply.sql.
update duebook_notifications as n set
    state = 'accepted', event = 'accept', version = n.version + 1, moved_at = r.at, closed_at = r.at,
    lease_until = null, holder = null, alone = 0, reason = null, wanted = null, basis = 'reported',
    provider_id = coalesce(r.provider_id, n.provider_id),
    message = case when r.discard or n.pruned > 0 then null else n.message end
from (
    select value ->> 'id' as id, value ->> 'version' as version, value ->> 'at' as at,
        value ->> 'provider_id' as provider_id, value ->> 'discard' as discard
    from json_each(:rows)
) as r
where n.id = r.id and n.version = r.version and n.state = 'sending'
returning id, state, version, doubt, cancel_request
