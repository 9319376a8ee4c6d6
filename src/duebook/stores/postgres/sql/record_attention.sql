-- Put on record whose attention a notification that begins takes.
insert into duebook.attention_taken (notification_id, scope, recipient, at)
select notification_id, scope, recipient, at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    notification_id bigint, scope text, recipient text, at timestamptz)
on conflict (notification_id, scope) do update set at = excluded.at
returning notification_id
