-- The notification behind one identity.
select {notification}
from duebook_notifications
where id = (select notification_id from duebook_identities where kind = :kind and key = :key)
