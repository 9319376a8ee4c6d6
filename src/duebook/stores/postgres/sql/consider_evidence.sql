-- Mark the evidence of these notifications as looked at.
update duebook.evidence set considered_at = cast(:now as timestamptz)
where notification_id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
    and considered_at is null
returning notification_id
