-- Make the commonest move of all, from sending to accepted, with what it needs and no more. Fenced as in apply.sql.
update duebook.notifications as n set
    state = 'accepted', event = 'accept', version = n.version + 1, moved_at = r.at, closed_at = r.at,
    lease_until = null, holder = null, alone = false, reason = null, wanted = null, basis = 'reported',
    provider_id = coalesce(r.provider_id, n.provider_id),
    message = case when r.discard or n.pruned > 0 then null else n.message end
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    id bigint, version integer, at timestamptz, provider_id text, discard boolean)
where n.id = r.id and n.version = r.version and n.state = 'sending'
returning n.id, n.state, n.version, n.doubt, n.cancel_request
