-- Let go of items that are part of no digest any more, a bounded batch at a time.
delete from duebook.digest_items
where ctid = any (array(
    select ctid from duebook.digest_items i
    where kind = :kind and added_at < cast(:before as timestamptz) and (label is not null or outcome is not null)
        and not exists (
            select 1 from duebook.digests d
            where d.kind = i.kind and d.recipient = i.recipient and d.label = i.label)
    limit :limit for update skip locked))
returning item
