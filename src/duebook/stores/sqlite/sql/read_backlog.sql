-- What is due and not yet claimed, what is held, what is in doubt or review, and how old the oldest of each is.
select
    (select count(*) from duebook_notifications where wake_at <= :now),
    (select min(due_at) from duebook_notifications where wake_at <= :now),
    (select count(*) from duebook_notifications where lease_until is not null),
    (select count(*) from duebook_notifications where lease_until < :now),
    (select count(*) from duebook_notifications where attention_at is not null),
    (select min(moved_at) from duebook_notifications where attention_at is not null),
    (select count(*) from duebook_notifications where review_at is not null),
    (select min(moved_at) from duebook_notifications where review_at is not null),
    (select min(wake_at) from duebook_notifications where wake_at > :now)
