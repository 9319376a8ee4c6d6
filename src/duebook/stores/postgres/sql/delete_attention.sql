-- What notifications took that retention removes.
delete from duebook.attention_taken
where notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint))
returning notification_id
