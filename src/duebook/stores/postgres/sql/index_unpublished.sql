-- Index what no broker has been told of. Only where one is used: others would pay for it with every row.
create index concurrently if not exists notifications_unpublished on duebook.notifications (wake_at)
    where wake_at is not null and not alone and published_for is distinct from wake_at
