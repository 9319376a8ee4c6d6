-- Note that promises are the same under other zone rules. No move: nothing about them has changed.
update duebook.notifications set tzdata = :tzdata
where id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint))
returning id
