-- The attempts of notifications that nobody can vouch for.
select notification_id, number, outcome, begun_at, provider_id
from duebook_attempts
where notification_id in (select value from json_each(:ids))
    and outcome in ('uncertain', 'lost') and resolution is null
order by notification_id, number
