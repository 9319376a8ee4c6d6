-- Let go of old digests, a bounded batch at a time.
delete from duebook.digests
where (kind, recipient, label) in (
    select kind, recipient, label from duebook.digests
    where kind = :kind and closed_at < cast(:before as timestamptz)
    limit :limit for update skip locked)
returning label
