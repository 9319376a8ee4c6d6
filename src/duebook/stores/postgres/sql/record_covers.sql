-- Put on record what a notification that begins speaks for, and how many messages it names.
insert into duebook.covers (
    notification_id, kind, conversation, recipient, after_position, to_position, total, fresh, begun_at)
select notification_id, kind, conversation, recipient, after_position, to_position, total, fresh, begun_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    notification_id bigint, kind text, conversation text, recipient text, after_position bigint, to_position bigint,
    total integer, fresh integer, begun_at timestamptz)
order by notification_id
on conflict (notification_id) do update set
    after_position = excluded.after_position, to_position = excluded.to_position, total = excluded.total,
    fresh = excluded.fresh, begun_at = excluded.begun_at
returning notification_id
