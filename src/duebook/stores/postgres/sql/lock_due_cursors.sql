-- Recipients with something to close, of kinds this process knows, held until the transaction ends.
select kind, recipient, tenant, namespace, zone, open_from, closed_to, next_close_at
from duebook.digest_cursors
where next_close_at <= cast(:now as timestamptz)
    and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
order by next_close_at
limit :limit
for update skip locked
