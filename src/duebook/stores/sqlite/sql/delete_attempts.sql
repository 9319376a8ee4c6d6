-- Remove the attempts of notifications that go.
delete from duebook_attempts
where notification_id in (select value from json_each(:ids))
returning notification_id
