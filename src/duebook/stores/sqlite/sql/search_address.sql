-- Notifications whose stored message or ledger names an address; for people, slow on purpose.
select {notification}
from duebook_notifications
where instr(lower(coalesce(message, '')), lower(:address)) > 0 or lower(recipient) = lower(:address)
order by id desc
limit :limit
