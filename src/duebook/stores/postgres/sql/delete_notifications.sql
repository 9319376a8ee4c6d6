-- Remove closed notifications whose identities have been brought up to date.
delete from duebook.notifications
where id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
    and closed_at is not null
returning id
