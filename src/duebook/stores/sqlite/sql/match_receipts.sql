-- Note which attempts receipts are about.
update duebook_receipts as r set notification_id = m.notification_id, number = m.number
from (
    select value ->> 'provider' as provider, value ->> 'id' as id, value ->> 'notification_id' as notification_id,
        value ->> 'number' as number
    from json_each(:rows)
) as m
where r.provider = m.provider and r.id = m.id
