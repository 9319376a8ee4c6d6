-- Take those of the ids a broker delivered that are due, under a lease. What is paused, held or done is not answered.
with kinds as materialized (
    select k.value as kind
    from json_each(:kinds) as k
    where not exists (
        select 1 from duebook_controls c where c.scope = 'kind:' || k.value and c.paused_at is not null)
        and not exists (
            select 1 from duebook_controls c
            where c.scope in ('everything', 'channel:' || :channel)
                and (c.paused_at is not null or c.paused_until > :now))
)
update duebook_notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = :now,
    wake_at = null, lease_until = :lease_until, holder = :holder
where id in (select value from json_each(:ids))
    and channel = :channel and not alone and wake_at <= :now and kind in (select kind from kinds)
returning {notification}
