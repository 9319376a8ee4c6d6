-- Receipts about messages that were not known when they came, held until the transaction ends.
select provider, id, event, at, provider_id, reference, address, permanent, detail
from duebook_receipts
where notification_id is null and received_at > :since
order by received_at
limit :limit
