-- Put on record whose attention a notification that begins takes.
insert into duebook_attention_taken (notification_id, scope, recipient, at)
select value ->> 'notification_id', value ->> 'scope', value ->> 'recipient', value ->> 'at' from json_each(:rows)
where true
on conflict (notification_id, scope) do update set at = excluded.at
returning notification_id
