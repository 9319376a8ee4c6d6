-- Bring the number of doubtful attempts of these notifications in line with their ledger; no transition.
update duebook_notifications as n set doubt = (
    select count(*) from duebook_attempts a
    where a.notification_id = n.id and a.outcome in ('uncertain', 'lost') and a.resolution is null)
where id in (select value from json_each(:ids))
returning id
