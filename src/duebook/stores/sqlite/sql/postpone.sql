-- Look at uncertain notifications again later; no transition.
update duebook_notifications as n set attention_at = r.attention_at
from (
    select value ->> 'id' as id, value ->> 'version' as version, value ->> 'attention_at' as attention_at
    from json_each(:rows)
) as r
where n.id = r.id and n.version = r.version and n.state = 'uncertain'
returning id
