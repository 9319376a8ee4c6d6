-- Remove the history of notifications that go.
delete from duebook_history
where notification_id in (select value from json_each(:ids))
returning notification_id
