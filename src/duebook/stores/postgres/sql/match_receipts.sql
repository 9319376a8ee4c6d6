-- Note which attempts receipts are about.
update duebook.receipts as r set notification_id = m.notification_id, number = m.number
from jsonb_to_recordset(cast(:rows as jsonb)) as m(provider text, id text, notification_id bigint, number integer)
where r.provider = m.provider and r.id = m.id
