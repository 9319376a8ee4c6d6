-- Mark the evidence of these notifications as looked at.
update duebook_evidence set considered_at = :now
where notification_id in (select value from json_each(:ids))
    and considered_at is null
returning notification_id
