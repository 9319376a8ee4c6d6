-- How late recent sends were: promised instant and begin of the last attempt, of the kinds' newest accepted ones.
-- Differs because SQLite has no lateral join.
select due_at, begun_at
from duebook_notifications
where kind in (select kind from duebook_kinds) and pruned = 0 and closed_at >= :since and basis is not null
    and begun_at is not null
limit :limit
