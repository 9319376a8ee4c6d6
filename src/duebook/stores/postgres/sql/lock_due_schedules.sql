-- Schedules whose next period has come, of kinds this process knows, held until the transaction ends.
select {schedule}
from duebook.schedules
where next_at <= cast(:now as timestamptz) and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
order by next_at
limit :limit
for update skip locked
