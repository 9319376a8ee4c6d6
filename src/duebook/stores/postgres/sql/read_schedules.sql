-- A page of schedules in the order of their names.
select {schedule}
from duebook.schedules
where name > :after and (:kind is null or kind = :kind) and (:recipient is null or recipient = :recipient)
order by name
limit :limit
