-- Keep what providers say; the same news twice is one row. Answers what is new.
insert into duebook.receipts (
    provider, id, event, at, provider_id, reference, address, permanent, detail, received_at)
select
    provider, id, event, at, provider_id, reference, address, permanent, detail, received_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    provider text, id text, event text, at timestamptz, provider_id text, reference text,
    address text, permanent boolean, detail text, received_at timestamptz)
order by provider, id
on conflict do nothing
returning provider, id
