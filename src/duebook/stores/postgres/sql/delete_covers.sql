-- The covers of notifications that retention removes.
delete from duebook.covers where notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint)) returning notification_id
