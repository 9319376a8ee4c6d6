-- Evidence about attempts of these notifications that are still unresolved.
select e.notification_id, e.number, e.at, e.source, e.says, e.provider_id, e.detail
from duebook_evidence e
join duebook_attempts a on a.notification_id = e.notification_id and a.number = e.number
where e.notification_id in (select value from json_each(:ids))
    and a.outcome in ('uncertain', 'lost') and a.resolution is null
order by e.notification_id, e.number, e.at
