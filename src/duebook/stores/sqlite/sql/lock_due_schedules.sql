-- Schedules whose next period has come, of kinds this process knows, held until the transaction ends.
select {schedule}
from duebook_schedules
where next_at <= :now and kind in (select value from json_each(:kinds))
order by next_at
limit :limit
