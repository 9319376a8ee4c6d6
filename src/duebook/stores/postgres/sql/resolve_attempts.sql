-- Note which doubtful attempts evidence has settled.
update duebook.attempts as a set resolution = r.says, resolved_at = r.at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(notification_id bigint, number integer, says text, at timestamptz)
where a.notification_id = r.notification_id and a.number = r.number and a.resolution is null
returning a.notification_id
