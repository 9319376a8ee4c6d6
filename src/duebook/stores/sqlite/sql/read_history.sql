-- The moves of one notification that are no attempt.
select version, at, by, event, state, next, reason
from duebook_history
where notification_id = :id
order by version
