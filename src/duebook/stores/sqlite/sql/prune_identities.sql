-- Forget identities of a kind whose stated memory is over and whose notification is gone.
delete from duebook_identities as i
where (i.kind, i.key) in (
    select kind, key from duebook_identities
    where kind = :kind and closed_at < :before
        and not exists (select 1 from duebook_notifications n where n.id = notification_id)
    order by closed_at limit :limit)
returning key
