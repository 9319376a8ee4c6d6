-- The notification behind one identity, held until the transaction ends.
select {notification}
from duebook_notifications
where id = (select notification_id from duebook_identities where kind = :kind and key = :key)
