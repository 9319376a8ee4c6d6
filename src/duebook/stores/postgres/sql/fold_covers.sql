-- Keep on the watermarks how far accepted notifications have told, before their covers are removed.
update duebook.watermarks as w set covered_to = greatest(w.covered_to, told.up_to)
from (
    select c.kind, c.conversation, c.recipient, max(c.to_position) as up_to
    from duebook.covers c
    join duebook.notifications n on n.id = c.notification_id and n.state = 'accepted'
    where c.notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint))
    group by c.kind, c.conversation, c.recipient
) as told
where w.kind = told.kind and w.conversation = told.conversation and w.recipient = told.recipient
