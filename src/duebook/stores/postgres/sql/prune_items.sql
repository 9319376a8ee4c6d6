-- Let go of items that are part of a digest or of none, a bounded batch at a time.
delete from duebook.digest_items
where ctid = any (array(
    select ctid from duebook.digest_items
    where kind = :kind and added_at < cast(:before as timestamptz) and (label is not null or outcome is not null)
    limit :limit for update skip locked))
returning item
