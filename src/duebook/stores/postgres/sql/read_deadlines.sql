-- Deadlines by name, as they are now.
select {deadline}
from duebook.deadlines
where (kind, key) in (
    select kind, key from jsonb_to_recordset(cast(:rows as jsonb)) as r(kind text, key text))
