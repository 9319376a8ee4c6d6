-- Bring the number of doubtful attempts of these notifications in line with their ledger; no transition.
update duebook.notifications as n set doubt = (
    select count(*) from duebook.attempts a
    where a.notification_id = n.id and a.outcome in ('uncertain', 'lost') and a.resolution is null)
where id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
returning id
