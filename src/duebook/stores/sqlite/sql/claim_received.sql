-- Take those of the ids a broker delivered that are due, under a lease. What is paused, held or done is not answered.
with {unpaused_kinds}
update duebook_notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = :now,
    wake_at = null, published_for = null, publish_until = null,
    lease_until = :lease_until, holder = :holder
where id in (select value from json_each(:ids))
    and channel = :channel and not alone and wake_at <= :now and kind in (select kind from kinds)
returning {notification}
