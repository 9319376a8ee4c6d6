-- When the next notification of a channel wants to be claimed; null where nothing is scheduled.
select min(wake_at) from (
    select * from (select wake_at from duebook_notifications
    where channel = :channel and priority = 0 and not alone and wake_at >= :floor
        and kind in (select value from json_each(:kinds))
    order by wake_at limit 1)
    union all
    select * from (select wake_at from duebook_notifications
    where channel = :channel and priority = 1 and not alone and wake_at >= :floor
        and kind in (select value from json_each(:kinds))
    order by wake_at limit 1)
    union all
    select * from (select wake_at from duebook_notifications
    where channel = :channel and priority = 2 and not alone and wake_at >= :floor
        and kind in (select value from json_each(:kinds))
    order by wake_at limit 1)
    union all
    select * from (select wake_at from duebook_notifications
    where channel = :channel and alone and wake_at is not null
        and kind in (select value from json_each(:kinds))
    order by wake_at limit 1)
) as earliest
