-- Digests among notifications that ended without being accepted, and nothing has been done about their items.
select notification_id, kind, recipient, label, open_from, cutoff_at, unsent
from duebook_digests
where notification_id in (select value from json_each(:ids)) and outcome is null
order by kind, recipient
