-- Note that attempts and history of these closed notifications are gone.
update duebook_notifications set pruned = 2
where id in (select value from json_each(:ids))
    and closed_at is not null
returning id
