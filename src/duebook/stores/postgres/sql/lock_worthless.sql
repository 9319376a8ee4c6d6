-- Scheduled notifications that are worth nothing any more.
select {notification}
from duebook.notifications
where expires_at <= cast(:now as timestamptz) and wake_at is not null
order by expires_at
limit :limit
for update skip locked
