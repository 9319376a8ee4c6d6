-- What providers have said later about a notification.
select provider, id, event, at, provider_id, reference, address, permanent, detail, number
from duebook_receipts
where notification_id = :id
order by at, provider, id
