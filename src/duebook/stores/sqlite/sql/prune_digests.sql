-- Let go of old digests whose notifications have ended, a bounded batch at a time.
delete from duebook_digests
where (kind, recipient, label) in (
    select kind, recipient, label from duebook_digests d
    where kind = :kind and closed_at < :before
        and not exists (
            select 1 from duebook_notifications n where n.id = d.notification_id and n.closed_at is null)
    limit :limit)
returning label
