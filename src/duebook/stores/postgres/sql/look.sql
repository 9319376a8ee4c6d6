-- One look for a whole idle worker: when each channel, and each housekeeping agent, has something to do next.
select 'wake' as topic, c.channel,
    (select min(wake_at) from (
        (select wake_at from duebook.notifications
        where channel = c.channel and priority = 0 and not alone and wake_at is not null
            and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
        order by wake_at limit 1)
        union all
        (select wake_at from duebook.notifications
        where channel = c.channel and priority = 1 and not alone and wake_at is not null
            and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
        order by wake_at limit 1)
        union all
        (select wake_at from duebook.notifications
        where channel = c.channel and priority = 2 and not alone and wake_at is not null
            and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
        order by wake_at limit 1)) as earliest)
from jsonb_array_elements_text(cast(:channels as jsonb)) as c(channel)
union all
select 'suspect', c.channel, (
    select wake_at from duebook.notifications
    where channel = c.channel and alone and wake_at is not null
        and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
    order by wake_at limit 1)
from jsonb_array_elements_text(cast(:channels as jsonb)) as c(channel)
union all
select 'lease', '', (select min(lease_until) from duebook.notifications where lease_until is not null)
union all
select 'expiry', '', (select min(expires_at) from duebook.notifications where expires_at is not null and wake_at is not null)
union all
select 'attention', '', (
    select min(attention_at) from duebook.notifications where attention_at is not null
        and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb)))))
union all
select 'schedule', '', (
    select min(next_at) from duebook.schedules where next_at is not null and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb)))))
union all
select 'digest', '', (
    select min(next_close_at) from duebook.digest_cursors where next_close_at is not null and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb)))))
union all
select 'evidence', '', (
    select e.at from duebook.evidence e
    join duebook.notifications n on n.id = e.notification_id and n.state <> 'sending' and n.kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
    where e.considered_at is null
    limit 1)
