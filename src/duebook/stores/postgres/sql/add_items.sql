-- Add items to what waits for a digest; answers those that are new. An item is in one digest of its kind at most, for
-- ever: its row names it.
insert into duebook.digest_items (kind, recipient, item, ready_at, score, data, expires_at, added_at)
select kind, recipient, item, ready_at, score, cast(data as jsonb), expires_at, added_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, item text, ready_at timestamptz, score double precision, data text,
    expires_at timestamptz, added_at timestamptz)
order by kind, recipient, item
on conflict do nothing
returning kind, recipient, item
