-- Recipients with something to close, of kinds this process knows, held until the transaction ends.
select kind, recipient, tenant, namespace, zone, open_from, closed_to, next_close_at
from duebook_digest_cursors
where next_close_at <= :now and kind in (select value from json_each(:kinds))
order by next_close_at
limit :limit
