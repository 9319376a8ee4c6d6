-- Take what is due soon and no broker has been told of, nearest first, until the claim on it runs out.
update duebook_notifications set publish_until = :publish_until
where id in (
    select id from duebook_notifications
    where wake_at is not null and not alone and published_for is not wake_at
        and wake_at <= :horizon and (publish_until is null or publish_until <= :now)
    order by wake_at limit :limit)
returning id, version, channel, priority, wake_at
