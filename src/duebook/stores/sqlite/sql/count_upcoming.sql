-- What will be looked at, by hour and kind.
select substr(wake_at, 1, 13) || ':00:00.000000Z' as hour, kind, count(*)
from duebook_notifications
where wake_at >= :start and wake_at < :end
group by 1, 2
order by 1, 2
