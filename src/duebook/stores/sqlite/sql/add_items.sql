-- Add items to what waits for a digest; answers those that are new. An item is in one digest of its kind at most, for
-- ever: its row names it.
insert into duebook_digest_items (kind, recipient, item, ready_at, score, data, expires_at, added_at)
select value ->> 'kind', value ->> 'recipient', value ->> 'item', value ->> 'ready_at', value ->> 'score',
    value ->> 'data', value ->> 'expires_at', value ->> 'added_at'
from json_each(:rows)
where true
on conflict do nothing
returning kind, recipient, item
