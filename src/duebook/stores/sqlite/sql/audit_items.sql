-- A page of items by name, each with whether its digest is there and when it is looked for next, for an audit.
select i.kind, i.recipient, i.item, i.ready_at, i.added_at, i.label, i.outcome, c.open_from, c.next_close_at,
    exists (
        select 1 from duebook_digests d
        where d.kind = i.kind and d.recipient = i.recipient and d.label = i.label)
from duebook_digest_items i
left join duebook_digest_cursors c on c.kind = i.kind and c.recipient = i.recipient
where (i.kind, i.recipient, i.item) > (:kind, :recipient, :item)
    and (:until_kind is null or (i.kind, i.recipient, i.item) <= (:until_kind, :until_recipient, :until_item))
order by i.kind, i.recipient, i.item
limit :limit
