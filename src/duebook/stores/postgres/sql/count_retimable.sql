-- How many local promises still to come were computed from other zone rules.
select count(*)
from duebook.notifications
where wake_at is not null and zone is not null and tzdata <> :tzdata and number = 0 and due_at > cast(:now as timestamptz)
