-- What is known about people: nothing, mostly.
select r.value, p.zone, p.locale, p.addresses::text, p.preferred, p.quiet_from, p.quiet_until, (
    select jsonb_agg(o.scope order by o.scope) from duebook.opt_outs o where o.recipient = r.value)::text
from jsonb_array_elements_text(cast(:recipients as jsonb)) as r(value)
left join duebook.people p on p.recipient = r.value
where p.recipient is not null or exists (select 1 from duebook.opt_outs o where o.recipient = r.value)
