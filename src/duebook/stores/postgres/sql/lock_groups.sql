-- Open notifications of cancellation groups, held until the transaction ends; in id order, so that two never deadlock.
select {notification}
from duebook.notifications
where group_key = any (array(select jsonb_array_elements_text(cast(:groups as jsonb)))) and closed_at is null
order by id
limit :limit
for update
