-- Let go of what providers said of notifications that retention removes.
delete from duebook_receipts
where notification_id in (select value from json_each(:ids))
returning id
