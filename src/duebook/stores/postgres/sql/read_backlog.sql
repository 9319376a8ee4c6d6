-- What is due and not yet claimed, what is held, what is in doubt or review, and how old the oldest of each is.
select
    (select count(*) from duebook.notifications where wake_at <= cast(:now as timestamptz)),
    (select min(due_at) from duebook.notifications where wake_at <= cast(:now as timestamptz)),
    (select count(*) from duebook.notifications where lease_until is not null),
    (select count(*) from duebook.notifications where lease_until < cast(:now as timestamptz)),
    (select count(*) from duebook.notifications where attention_at is not null),
    (select min(moved_at) from duebook.notifications where attention_at is not null),
    (select count(*) from duebook.notifications where review_at is not null),
    (select min(moved_at) from duebook.notifications where review_at is not null),
    (select min(wake_at) from duebook.notifications where wake_at > cast(:now as timestamptz))
