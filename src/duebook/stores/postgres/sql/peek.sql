-- When the next notification of a channel wants to be claimed; null where nothing is scheduled.
select min(wake_at) from (
    (select wake_at from duebook.notifications
    where channel = :channel and priority = 0 and not alone and wake_at >= cast(:floor as timestamptz)
        and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
    order by wake_at limit 1)
    union all
    (select wake_at from duebook.notifications
    where channel = :channel and priority = 1 and not alone and wake_at >= cast(:floor as timestamptz)
        and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
    order by wake_at limit 1)
    union all
    (select wake_at from duebook.notifications
    where channel = :channel and priority = 2 and not alone and wake_at >= cast(:floor as timestamptz)
        and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
    order by wake_at limit 1)
    union all
    (select wake_at from duebook.notifications
    where channel = :channel and alone and wake_at is not null
        and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
    order by wake_at limit 1)
) as earliest
