-- The broker delivered these before their time: it shall be told of them again, by whoever wins the mark.
update duebook_notifications set published_for = null
where id in (select value from json_each(:ids)) and wake_at > :now and published_for = wake_at
