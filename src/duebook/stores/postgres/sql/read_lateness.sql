-- How late recent sends were: promised instant and begin of the last attempt, of each kind's newest accepted ones.
select n.due_at, n.begun_at
from duebook.kinds k
cross join lateral (
    select due_at, begun_at
    from duebook.notifications
    where kind = k.kind and pruned = 0 and closed_at >= cast(:since as timestamptz) and basis is not null and begun_at is not null
    order by closed_at desc
    limit :limit) as n
