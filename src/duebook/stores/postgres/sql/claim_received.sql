-- Take those of the ids a broker delivered that are due, under a lease. What is paused, held or done is not answered.
-- It waits for rows that somebody has locked: the promoter may be writing down that it has just published them.
with {unpaused_kinds}, received as (
    select id from duebook.notifications
    where id in (select cast(value as bigint) from jsonb_array_elements_text(cast(:ids as jsonb)))
        and channel = :channel and not alone and wake_at <= cast(:now as timestamptz)
        and kind = any ((select known from kinds)::text[])
    order by id for update
)
update duebook.notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = cast(:now as timestamptz),
    wake_at = null, published_for = null, publish_until = null,
    lease_until = cast(:lease_until as timestamptz), holder = :holder
where id = any (array(select id from received))
returning {notification}
