-- When those of the ids a broker delivered are due that came a little early.
select id, wake_at from duebook_notifications
where id in (select value from json_each(:ids)) and wake_at > :after and wake_at <= :until
