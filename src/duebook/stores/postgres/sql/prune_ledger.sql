-- Note that attempts and history of these closed notifications are gone.
update duebook.notifications set pruned = 2
where id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
    and closed_at is not null
returning id
