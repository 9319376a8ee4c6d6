-- Which of some messages go to addresses that are written to no more, and why.
select r.id, s.reason
from (
    select value ->> 'id' as id, value ->> 'kind' as kind, value ->> 'address' as address from json_each(:rows)
) as r
join duebook_suppressions s on s.channel = :channel and s.address = r.address
    and s.scope in ('everything', r.kind)
