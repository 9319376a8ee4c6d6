-- Let go of old digests, a bounded batch at a time.
delete from duebook_digests
where (kind, recipient, label) in (
    select kind, recipient, label from duebook_digests where kind = :kind and closed_at < :before limit :limit)
returning label
