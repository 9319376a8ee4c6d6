-- How many notifications are open, by kind, channel and state.
select kind, channel, state, count(*), min(due_at)
from duebook_notifications
where closed_at is null
group by kind, channel, state
order by kind, channel, state
