-- Keep the owner's wish on a notification that is on the wire or in doubt; no transition.
update duebook.notifications as n set cancel_request = r.reason
from jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, reason text)
where n.id = r.id and n.state in ('sending', 'uncertain') and n.cancel_request is null
returning n.id
