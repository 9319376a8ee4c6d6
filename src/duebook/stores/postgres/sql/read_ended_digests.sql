-- Digests among notifications that ended without being accepted, and nothing has been done about their items.
select notification_id, kind, recipient, label, open_from, cutoff_at, unsent
from duebook.digests
where notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint)) and outcome is null
order by kind, recipient
