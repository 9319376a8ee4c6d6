-- Store deadlines that are new, as yet without a term; those that exist are left alone.
insert into duebook.deadlines (
    kind, key, recipient, tenant, namespace, data, wall, zone, ends_at, term, first_term, state, reason,
    created_at, changed_at, changed_by)
select
    kind, key, recipient, tenant, namespace, cast(data as jsonb), wall, zone, ends_at, term, first_term, state,
    reason, created_at, changed_at, changed_by
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, key text, recipient text, tenant text, namespace text, data text, wall text, zone text,
    ends_at timestamptz, term integer, first_term integer, state text, reason text, created_at timestamptz,
    changed_at timestamptz, changed_by text)
order by kind, key
on conflict do nothing
returning key
