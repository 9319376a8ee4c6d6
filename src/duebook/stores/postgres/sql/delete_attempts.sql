-- Remove the attempts of notifications that go.
delete from duebook.attempts
where notification_id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
returning notification_id
