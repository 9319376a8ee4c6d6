-- Receipts about messages that were not known when they came, held until the transaction ends.
select provider, id, event, at, provider_id, reference, address, permanent, detail
from duebook.receipts
where notification_id is null and received_at > cast(:since as timestamptz)
order by received_at
limit :limit
for update skip locked
