-- What is known about people: nothing, mostly.
select r.value, p.zone, p.locale, p.addresses, p.preferred, p.quiet_from, p.quiet_until, (
    select json_group_array(o.scope) from duebook_opt_outs o where o.recipient = r.value), p.changed_at
from json_each(:recipients) as r
left join duebook_people p on p.recipient = r.value
where p.recipient is not null or exists (select 1 from duebook_opt_outs o where o.recipient = r.value)
