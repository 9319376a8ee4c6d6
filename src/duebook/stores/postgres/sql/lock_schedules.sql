-- Schedules by name, held until the transaction ends; in the order of their names, so that two never deadlock.
select {schedule}
from duebook.schedules
where name = any (array(select jsonb_array_elements_text(cast(:names as jsonb))))
order by name
for update
