-- Write down moves that are no attempt: who did what, when and why.
insert into duebook_history (notification_id, version, at, by, event, state, next, reason)
select id, version + 1, at, by, event, state, next, reason
from (
    select value ->> 'id' as id, value ->> 'version' as version, value ->> 'at' as at, value ->> 'by' as by,
        value ->> 'event' as event, value ->> 'state' as state, value ->> 'next' as next,
        value ->> 'reason' as reason
    from json_each(:rows)
) as r
returning notification_id
