-- Write what deadlines are now. Whoever writes holds their rows.
update duebook.deadlines as d set
    recipient = r.recipient, tenant = r.tenant, data = cast(r.data as jsonb), wall = r.wall, zone = r.zone,
    ends_at = r.ends_at, term = r.term, first_term = r.first_term, state = r.state, reason = r.reason,
    changed_at = r.changed_at, changed_by = r.changed_by
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, key text, recipient text, tenant text, data text, wall text, zone text, ends_at timestamptz,
    term integer, first_term integer, state text, reason text, changed_at timestamptz, changed_by text)
where d.kind = r.kind and d.key = r.key
returning d.key
