-- Take due notifications of one channel under a lease, oldest first: urgent ones up to the room, the others up to their
-- shares or what is left of the room. Only where none is due, one suspect: a row whose worker died holding it travels
-- alone.
with {unpaused_kinds}, urgent as materialized (
    select id from duebook_notifications
    where channel = :channel and priority = 0 and not alone and wake_at between :floor and :now
        and kind in (select kind from kinds)
    order by wake_at limit :urgent
), normal as materialized (
    select id from duebook_notifications
    where channel = :channel and priority = 1 and not alone and wake_at between :floor and :now
        and kind in (select kind from kinds)
    order by wake_at limit max(:normal, :urgent - (select count(*) from urgent))
), bulk as (
    select id from duebook_notifications
    where channel = :channel and priority = 2 and not alone and wake_at between :floor and :now
        and kind in (select kind from kinds)
    order by wake_at limit max(
        :bulk, :urgent - (select count(*) from urgent) - (select count(*) from normal))
), batch as materialized (
    select id from urgent union all select id from normal union all select id from bulk
), suspect as (
    select id from duebook_notifications
    where channel = :channel and alone and wake_at <= :now
        and kind in (select kind from kinds)
        and not exists (select 1 from batch)
    order by wake_at limit :alone
)
update duebook_notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = :now,
    wake_at = null, published_for = null, publish_until = null,
    lease_until = :lease_until, holder = :holder
where id in (select id from batch union all select id from suspect)
returning {notification}
