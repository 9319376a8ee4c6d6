-- Deadlines by name, held until the transaction ends; in the order of their names, so that two never deadlock.
-- Differs because the lateral limit keeps the planner from reading the whole table.
select d.*
from (select kind, key from jsonb_to_recordset(cast(:rows as jsonb)) as r(kind text, key text) order by 1, 2) as r
cross join lateral (
    select {deadline} from duebook.deadlines where kind = r.kind and key = r.key limit 1 for update) as d
