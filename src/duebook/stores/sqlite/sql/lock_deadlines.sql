-- Deadlines by name, held until the transaction ends; in the order of their names, so that two never deadlock.
select {deadline}
from duebook_deadlines
where (kind, key) in (select value ->> 'kind', value ->> 'key' from json_each(:rows))
order by kind, key
