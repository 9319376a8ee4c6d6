-- Recipients with something to close until an instant, in the order they come.
select kind, recipient, tenant, namespace, zone, open_from, closed_to, next_close_at
from duebook.digest_cursors
where next_close_at <= cast(:until as timestamptz) and (:kind is null or kind = :kind)
    and (:recipient is null or recipient = :recipient)
order by next_close_at, kind, recipient
limit :limit
