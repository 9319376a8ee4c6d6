-- Index what no broker has been told of. Only where one is used: others would pay for it with every row.
create index if not exists duebook_notifications_unpublished on duebook_notifications (wake_at)
    where wake_at is not null and not alone and published_for is not wake_at
