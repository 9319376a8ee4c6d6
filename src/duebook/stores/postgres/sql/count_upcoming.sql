-- What will be looked at, by hour and kind.
select date_trunc('hour', wake_at, 'UTC') as hour, kind, count(*)
from duebook.notifications
where wake_at >= cast(:start as timestamptz) and wake_at < cast(:end as timestamptz)
group by 1, 2
order by 1, 2
