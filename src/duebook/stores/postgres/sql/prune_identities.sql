-- Forget identities of a kind whose stated memory is over and whose notification is gone.
delete from duebook.identities as i
where (i.kind, i.key) in (
    select kind, key from duebook.identities
    where kind = :kind and closed_at < cast(:before as timestamptz)
        and not exists (select 1 from duebook.notifications n where n.id = notification_id)
    order by closed_at limit :limit)
returning i.key
