-- Keep the owner's wish on a notification that is on the wire or in doubt; no transition.
update duebook_notifications as n set cancel_request = r.reason
from (
    select value ->> 'id' as id, value ->> 'reason' as reason
    from json_each(:rows)
) as r
where n.id = r.id and n.state in ('sending', 'uncertain') and n.cancel_request is null
returning id
