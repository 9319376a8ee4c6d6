-- Let go of what providers said of notifications that retention removes.
delete from duebook.receipts
where notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint))
returning id
