-- Open notifications of one recipient, held until the transaction ends.
select {notification}
from duebook_notifications
where id in (select notification_id from duebook_identities where recipient = :recipient)
    and closed_at is null
order by id
