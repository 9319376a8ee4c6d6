-- Put on record that the broker has been told, unless the notification has moved meanwhile.
update duebook_notifications as n set published_for = n.wake_at, publish_until = null
from (select value ->> 'id' as id, value ->> 'version' as version from json_each(:rows)) as r
where n.id = r.id and n.version = r.version
