-- Which of some messages go to addresses that are written to no more, and why.
select r.id, s.reason
from jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, kind text, address text)
join duebook.suppressions s on s.channel = :channel and s.address = r.address
    and s.scope in ('everything', r.kind)
