-- The notification behind one identity, held until the transaction ends.
select {notification}
from duebook.notifications
where id = (select notification_id from duebook.identities where kind = :kind and key = :key)
for update
