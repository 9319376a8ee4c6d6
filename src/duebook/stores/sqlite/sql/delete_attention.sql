-- What notifications took that retention removes.
delete from duebook_attention_taken
where notification_id in (select value from json_each(:ids))
returning notification_id
