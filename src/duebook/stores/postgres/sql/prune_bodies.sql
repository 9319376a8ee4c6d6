-- Discard rendered messages and data of closed notifications; never of one that can still be sent.
update duebook.notifications set message = null, data = '{}', pruned = 1
where id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
    and closed_at is not null
returning id
