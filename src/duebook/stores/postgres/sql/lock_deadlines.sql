-- Deadlines by name, held until the transaction ends; in the order of their names, so that two never deadlock.
select {deadline}
from duebook.deadlines
where (kind, key) in (
    select kind, key from jsonb_to_recordset(cast(:rows as jsonb)) as r(kind text, key text))
order by kind, key
for update
