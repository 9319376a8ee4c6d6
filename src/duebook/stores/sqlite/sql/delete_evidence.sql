-- Remove the evidence of notifications that go.
delete from duebook_evidence
where notification_id in (select value from json_each(:ids))
returning notification_id
