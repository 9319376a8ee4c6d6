-- The attempts of notifications that nobody can vouch for.
select notification_id, number, outcome, begun_at, provider_id
from duebook.attempts
where notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint))
    and outcome in ('uncertain', 'lost') and resolution is null
order by notification_id, number
