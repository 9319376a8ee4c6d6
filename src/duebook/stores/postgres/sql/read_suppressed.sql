-- Which of some messages go to addresses that are written to no more, and why.
-- Differs because the lateral limit keeps the planner from reading a whole table.
select r.id, s.reason
from jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, kind text, address text)
join lateral (
    select reason from duebook.suppressions
    where channel = :channel and address = r.address and scope in ('everything', r.kind)
    limit 1) s on true
