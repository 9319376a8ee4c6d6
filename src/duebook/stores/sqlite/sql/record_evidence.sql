-- Keep what was learned about an attempt after it was settled; the same news twice is one row, and news
-- of a notification that retention has removed is none.
insert into duebook_evidence (notification_id, number, source, says, at, provider_id, detail)
select notification_id, number, source, says, at, provider_id, detail
from (
    select value ->> 'notification_id' as notification_id, value ->> 'number' as number,
        value ->> 'source' as source, value ->> 'says' as says, value ->> 'at' as at,
        value ->> 'provider_id' as provider_id, value ->> 'detail' as detail
    from json_each(:rows)
) as r
where exists (select 1 from duebook_notifications n where n.id = r.notification_id)
on conflict do nothing
returning notification_id
