-- Take due notifications of one channel under a lease, oldest first: urgent ones up to the room, the others up to their
-- shares or what is left of the room. Only where none is due, one suspect: a row whose worker died holding it travels
-- alone.
with {unpaused_kinds}, urgent as (
    select id from duebook.notifications
    where channel = :channel and priority = 0 and not alone
        and wake_at between cast(:floor as timestamptz) and cast(:now as timestamptz)
        and kind = any ((select known from kinds)::text[])
    order by wake_at limit :urgent for update skip locked
), normal as (
    select id from duebook.notifications
    where channel = :channel and priority = 1 and not alone
        and wake_at between cast(:floor as timestamptz) and cast(:now as timestamptz)
        and kind = any ((select known from kinds)::text[])
    order by wake_at limit greatest(:normal, :urgent - (select count(*) from urgent)) for update skip locked
), bulk as (
    select id from duebook.notifications
    where channel = :channel and priority = 2 and not alone
        and wake_at between cast(:floor as timestamptz) and cast(:now as timestamptz)
        and kind = any ((select known from kinds)::text[])
    order by wake_at limit greatest(
        :bulk, :urgent - (select count(*) from urgent) - (select count(*) from normal)) for update skip locked
), batch as (
    select id from urgent union all select id from normal union all select id from bulk
), suspect as (
    select id from duebook.notifications
    where channel = :channel and alone and wake_at <= cast(:now as timestamptz)
        and kind = any ((select known from kinds)::text[])
        and not exists (select 1 from batch)
    order by wake_at limit :alone for update skip locked
)
update duebook.notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = cast(:now as timestamptz),
    wake_at = null, published_for = null, publish_until = null,
    lease_until = cast(:lease_until as timestamptz), holder = :holder
where id = any (array(select id from batch union all select id from suspect))
returning {notification}
