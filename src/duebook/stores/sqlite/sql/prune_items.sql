-- Let go of items that are part of a digest or of none, a bounded batch at a time.
delete from duebook_digest_items
where rowid in (
    select rowid from duebook_digest_items
    where kind = :kind and added_at < :before and (label is not null or outcome is not null)
    limit :limit)
returning item
