-- Copy to the identities what must outlive these notifications.
update duebook.identities as i set
    state = n.state, reason = n.reason, due_at = n.due_at, closed_at = n.closed_at, provider_id = n.provider_id
from duebook.notifications n
where n.id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
    and i.kind = n.kind and i.key = n.key
returning i.notification_id
