-- The covers of notifications that retention removes.
delete from duebook_covers where notification_id in (select value from json_each(:ids)) returning notification_id
