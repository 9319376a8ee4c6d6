-- Evidence about attempts of these notifications that are still unresolved.
select e.notification_id, e.number, e.at, e.source, e.says, e.provider_id, e.detail
from duebook.evidence e
join duebook.attempts a on a.notification_id = e.notification_id and a.number = e.number
where e.notification_id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
    and a.outcome in ('uncertain', 'lost') and a.resolution is null
order by e.notification_id, e.number, e.at
