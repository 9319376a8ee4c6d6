-- Let go of old digests whose notifications have ended, a bounded batch at a time.
delete from duebook.digests
where (kind, recipient, label) in (
    select kind, recipient, label from duebook.digests d
    where kind = :kind and closed_at < cast(:before as timestamptz)
        and not exists (
            select 1 from duebook.notifications n where n.id = d.notification_id and n.closed_at is null)
    limit :limit for update skip locked)
returning label
