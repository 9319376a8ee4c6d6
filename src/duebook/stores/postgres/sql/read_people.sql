-- What is known about people: nothing, mostly.
-- Differs because what is lateral keeps the planner from reading whole tables for each claim.
select r.value, p.zone, p.locale, p.addresses::text, p.preferred, p.quiet_from, p.quiet_until, o.scopes, p.changed_at
from jsonb_array_elements_text(cast(:recipients as jsonb)) as r(value)
left join lateral (select * from duebook.people where recipient = r.value limit 1) p on true
left join lateral (
    select jsonb_agg(scope order by scope)::text as scopes from duebook.opt_outs where recipient = r.value) o on true
where p.recipient is not null or o.scopes is not null
