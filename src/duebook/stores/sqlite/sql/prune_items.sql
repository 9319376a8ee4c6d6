-- Let go of items that are part of no digest any more, a bounded batch at a time.
delete from duebook_digest_items
where rowid in (
    select rowid from duebook_digest_items i
    where kind = :kind and added_at < :before and (label is not null or outcome is not null)
        and not exists (
            select 1 from duebook_digests d
            where d.kind = i.kind and d.recipient = i.recipient and d.label = i.label)
    limit :limit)
returning item
