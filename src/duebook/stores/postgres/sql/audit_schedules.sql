-- A page of schedules by name, for an audit.
select name, kind, recurrence::text, zone, until_at, cursor_at, next_at, paused_at
from duebook.schedules
where name > :after and (:until is null or name <= :until)
order by name
limit :limit
