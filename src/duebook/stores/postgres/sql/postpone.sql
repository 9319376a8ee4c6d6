-- Look at uncertain notifications again later; no transition.
update duebook.notifications as n set attention_at = r.attention_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, version integer, attention_at timestamptz)
where n.id = r.id and n.version = r.version and n.state = 'uncertain'
returning n.id
