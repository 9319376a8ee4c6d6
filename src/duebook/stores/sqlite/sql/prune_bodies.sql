-- Discard rendered messages and data of closed notifications; never of one that can still be sent.
update duebook_notifications set message = null, data = '{}', pruned = 1
where id in (select value from json_each(:ids))
    and closed_at is not null
returning id
