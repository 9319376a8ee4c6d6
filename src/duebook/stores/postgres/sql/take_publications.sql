-- Take what is due soon and no broker has been told of, nearest first, until the claim on it runs out.
with soon as (
    select id from duebook.notifications
    where wake_at is not null and not alone and published_for is distinct from wake_at
        and wake_at <= cast(:horizon as timestamptz)
        and (publish_until is null or publish_until <= cast(:now as timestamptz))
    order by wake_at limit :limit for update skip locked
)
update duebook.notifications set publish_until = cast(:publish_until as timestamptz)
where id = any (array(select id from soon))
returning id, version, channel, priority, wake_at
