-- Remove the history of notifications that go.
delete from duebook.history
where notification_id = any (array(select cast(jsonb_array_elements_text(cast(:ids as jsonb)) as bigint)))
returning notification_id
