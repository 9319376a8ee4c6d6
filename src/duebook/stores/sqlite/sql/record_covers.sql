-- Put on record what a notification that begins speaks for, and how many messages it names.
insert into duebook_covers (
    notification_id, kind, conversation, recipient, after_position, to_position, total, fresh, begun_at)
select value ->> 'notification_id', value ->> 'kind', value ->> 'conversation', value ->> 'recipient',
    value ->> 'after_position', value ->> 'to_position', value ->> 'total', value ->> 'fresh', value ->> 'begun_at'
from json_each(:rows)
where true
on conflict (notification_id) do update set
    after_position = excluded.after_position, to_position = excluded.to_position, total = excluded.total,
    fresh = excluded.fresh, begun_at = excluded.begun_at
returning notification_id
