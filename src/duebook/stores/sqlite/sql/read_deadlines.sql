-- Deadlines by name, as they are now.
select {deadline}
from duebook_deadlines
where (kind, key) in (select value ->> 'kind', value ->> 'key' from json_each(:rows))
