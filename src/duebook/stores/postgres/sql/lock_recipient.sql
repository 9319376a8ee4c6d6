-- Open notifications of one recipient, held until the transaction ends.
select {notification}
from duebook.notifications
where id = any (array(select notification_id from duebook.identities where recipient = :recipient))
    and closed_at is null
order by id
for update
