-- Keep on record which periods got no notification of their own, and why; the same news twice is one row.
insert into duebook_missed (
    source, kind, name, recipient, first_label, last_label, first_at, last_at, periods, outcome, reason,
    combined_into, recorded_at)
select
    source, kind, name, recipient, first_label, last_label, first_at, last_at, periods, outcome, reason,
    combined_into, recorded_at
from (
    select
        value ->> 'source' as source, value ->> 'kind' as kind, value ->> 'name' as name,
        value ->> 'recipient' as recipient, value ->> 'first_label' as first_label,
        value ->> 'last_label' as last_label, value ->> 'first_at' as first_at, value ->> 'last_at' as last_at,
        value ->> 'periods' as periods, value ->> 'outcome' as outcome, value ->> 'reason' as reason,
        value ->> 'combined_into' as combined_into, value ->> 'recorded_at' as recorded_at
    from json_each(:rows)
) as r
where true
on conflict do nothing
returning id
