-- Note what was done about the items of digests that ended.
update duebook.digests as d set outcome = r.outcome
from jsonb_to_recordset(cast(:rows as jsonb)) as r(notification_id bigint, outcome text)
where d.notification_id = r.notification_id
