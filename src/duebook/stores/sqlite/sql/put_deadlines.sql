-- Store deadlines that are new, as yet without a term; those that exist are left alone.
insert into duebook_deadlines (
    kind, key, recipient, tenant, namespace, data, wall, zone, ends_at, term, first_term, state, reason,
    created_at, changed_at, changed_by)
select
    kind, key, recipient, tenant, namespace, data, wall, zone, ends_at, term, first_term, state, reason,
    created_at, changed_at, changed_by
from (
    select
        value ->> 'kind' as kind, value ->> 'key' as key, value ->> 'recipient' as recipient,
        value ->> 'tenant' as tenant, value ->> 'namespace' as namespace, value ->> 'data' as data,
        value ->> 'wall' as wall, value ->> 'zone' as zone, value ->> 'ends_at' as ends_at,
        value ->> 'term' as term, value ->> 'first_term' as first_term, value ->> 'state' as state,
        value ->> 'reason' as reason, value ->> 'created_at' as created_at, value ->> 'changed_at' as changed_at,
        value ->> 'changed_by' as changed_by
    from json_each(:rows)
) as r
where true
on conflict do nothing
returning key
