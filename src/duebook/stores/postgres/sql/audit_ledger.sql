-- A page of the ids that attempts, history and evidence name, for an audit: whether there is such a notification, and
-- if not, how many rows name it.
-- Differs because the lateral limit keeps the planner from reading a whole table for each page.
select
    owner.id, n.id is not null,
    case when n.id is null then (select count(*) from duebook.attempts a where a.notification_id = owner.id) else 0 end,
    case when n.id is null then (select count(*) from duebook.history h where h.notification_id = owner.id) else 0 end,
    case when n.id is null then (select count(*) from duebook.evidence e where e.notification_id = owner.id) else 0 end
from (
    select id from (select distinct notification_id as id from duebook.attempts
        where notification_id > :after and notification_id <= :until order by notification_id limit :limit) as a
    union
    select id from (select distinct notification_id as id from duebook.history
        where notification_id > :after and notification_id <= :until order by notification_id limit :limit) as h
    union
    select id from (select distinct notification_id as id from duebook.evidence
        where notification_id > :after and notification_id <= :until order by notification_id limit :limit) as e
    order by id
    limit :limit) as owner
left join lateral (select id from duebook.notifications where id = owner.id limit 1) n on true
order by owner.id
