-- Note which doubtful attempts evidence has settled.
update duebook_attempts as a set resolution = r.says, resolved_at = r.at
from (
    select value ->> 'notification_id' as notification_id, value ->> 'number' as number,
        value ->> 'says' as says, value ->> 'at' as at
    from json_each(:rows)
) as r
where a.notification_id = r.notification_id and a.number = r.number and a.resolution is null
returning notification_id
