-- One look for a whole idle worker: when each channel, and each housekeeping agent, has something to do next.
select 'wake' as topic, c.value,
    (select min(wake_at) from (
        select * from (select wake_at from duebook_notifications
        where channel = c.value and priority = 0 and not alone and wake_at is not null
            and kind in (select value from json_each(:kinds))
        order by wake_at limit 1)
        union all
        select * from (select wake_at from duebook_notifications
        where channel = c.value and priority = 1 and not alone and wake_at is not null
            and kind in (select value from json_each(:kinds))
        order by wake_at limit 1)
        union all
        select * from (select wake_at from duebook_notifications
        where channel = c.value and priority = 2 and not alone and wake_at is not null
            and kind in (select value from json_each(:kinds))
        order by wake_at limit 1)) as earliest)
from json_each(:channels) as c
union all
select 'suspect', c.value, (
    select wake_at from duebook_notifications
    where channel = c.value and alone and wake_at is not null
        and kind in (select value from json_each(:kinds))
    order by wake_at limit 1)
from json_each(:channels) as c
union all
select 'lease', '', (select min(lease_until) from duebook_notifications where lease_until is not null)
union all
select 'expiry', '', (select min(expires_at) from duebook_notifications where expires_at is not null and wake_at is not null)
union all
select 'attention', '', (
    select min(attention_at) from duebook_notifications where attention_at is not null
        and kind in (select value from json_each(:kinds)))
union all
select 'schedule', '', (
    select min(next_at) from duebook_schedules where next_at is not null and kind in (select value from json_each(:kinds)))
union all
select 'digest', '', (
    select min(next_close_at) from duebook_digest_cursors where next_close_at is not null and kind in (select value from json_each(:kinds)))
union all
select 'evidence', '', (
    select e.at from duebook_evidence e
    join duebook_notifications n on n.id = e.notification_id and n.state <> 'sending' and n.kind in (select value from json_each(:kinds))
    where e.considered_at is null
    limit 1)
