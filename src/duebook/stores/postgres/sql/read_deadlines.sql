-- Deadlines by name, as they are now.
-- Differs because the lateral limit keeps the planner from reading the whole table.
select d.*
from jsonb_to_recordset(cast(:rows as jsonb)) as r(kind text, key text)
cross join lateral (
    select {deadline} from duebook.deadlines where kind = r.kind and key = r.key limit 1) as d
