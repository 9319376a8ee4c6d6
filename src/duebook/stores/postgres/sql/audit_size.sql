-- About how many records an audit reads, for its progress bar: what the planner believes, because counting takes long.
-- Differs because SQLite knows its highest row at once, and nothing of how many there are.
select cast(coalesce(sum(case relname when 'identities' then 1 else 2 end * greatest(reltuples, 0)), 0) as bigint)
from pg_class
where oid in (to_regclass('duebook.notifications'), to_regclass('duebook.identities'))
