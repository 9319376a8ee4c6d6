-- Note addresses that are written to no more; the first reason stays.
insert into duebook.suppressions (channel, address, scope, reason, at, by)
select channel, address, scope, reason, cast(:now as timestamptz), :by
from jsonb_to_recordset(cast(:rows as jsonb)) as r(channel text, address text, scope text, reason text)
order by channel, address, scope
on conflict do nothing
returning address
