-- Open notifications of cancellation groups, held until the transaction ends; in id order, so that two never deadlock.
-- Differs because SQLite would walk the whole table in that order: the cross join makes it begin with the groups, and
-- it takes a partial index only where its condition is written out.
select {notification}
from (select value as wanted_group from json_each(:groups))
cross join duebook_notifications on group_key = wanted_group
where group_key is not null and closed_at is null
order by id
limit :limit
