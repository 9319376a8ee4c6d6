-- How late the most recently closed accepted notifications were: promised instant and begin of the last attempt.
select due_at, begun_at
from duebook.notifications
where closed_at >= cast(:since as timestamptz) and basis is not null and begun_at is not null
order by closed_at desc
limit :limit
