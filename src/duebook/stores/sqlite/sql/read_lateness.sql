-- How late the most recently closed accepted notifications were: promised instant and begin of the last attempt.
select due_at, begun_at
from duebook_notifications
where closed_at >= :since and basis is not null and begun_at is not null
order by closed_at desc
limit :limit
