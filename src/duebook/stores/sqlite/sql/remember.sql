-- Copy to the identities what must outlive these notifications.
update duebook_identities as i set
    state = n.state, reason = n.reason, due_at = n.due_at, closed_at = n.closed_at, provider_id = n.provider_id
from duebook_notifications n
where n.id in (select value from json_each(:ids))
    and i.kind = n.kind and i.key = n.key
returning notification_id
