-- Schedules by name, held until the transaction ends; in the order of their names, so that two never deadlock.
select {schedule}
from duebook_schedules
where name in (select value from json_each(:names))
order by name
