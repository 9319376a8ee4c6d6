-- Scheduled notifications that are worth nothing any more.
select {notification}
from duebook_notifications
where expires_at <= :now and wake_at is not null
order by expires_at
limit :limit
