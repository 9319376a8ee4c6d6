-- Write what deadlines are now. Whoever writes holds their rows.
update duebook_deadlines as d set
    recipient = r.recipient, tenant = r.tenant, data = r.data, wall = r.wall, zone = r.zone, ends_at = r.ends_at,
    term = r.term, first_term = r.first_term, state = r.state, reason = r.reason, changed_at = r.changed_at,
    changed_by = r.changed_by
from (
    select
        value ->> 'kind' as kind, value ->> 'key' as key, value ->> 'recipient' as recipient,
        value ->> 'tenant' as tenant, value ->> 'data' as data, value ->> 'wall' as wall, value ->> 'zone' as zone,
        value ->> 'ends_at' as ends_at, value ->> 'term' as term, value ->> 'first_term' as first_term,
        value ->> 'state' as state, value ->> 'reason' as reason, value ->> 'changed_at' as changed_at,
        value ->> 'changed_by' as changed_by
    from json_each(:rows)
) as r
where d.kind = r.kind and d.key = r.key
returning key
