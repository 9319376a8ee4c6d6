-- Keep what providers say; the same news twice is one row. Answers what is new.
insert into duebook_receipts (
    provider, id, event, at, provider_id, reference, address, permanent, detail, received_at)
select
    value ->> 'provider', value ->> 'id', value ->> 'event', value ->> 'at', value ->> 'provider_id',
    value ->> 'reference', value ->> 'address', value ->> 'permanent', value ->> 'detail', value ->> 'received_at'
from json_each(:rows)
where true
on conflict do nothing
returning provider, id
