-- Note addresses that are written to no more; the first reason stays.
insert into duebook_suppressions (channel, address, scope, reason, at, by)
select value ->> 'channel', value ->> 'address', value ->> 'scope', value ->> 'reason', :now, :by
from json_each(:rows)
where true
on conflict do nothing
returning address
