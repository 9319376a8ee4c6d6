-- A page of matched receipts, each with whether its attempt was made, for an audit.
select
    r.provider, r.id, r.notification_id, r.number, n.pruned,
    exists (select 1 from duebook_attempts a where a.notification_id = r.notification_id and a.number = r.number)
    or (n.state = 'sending' and n.number = r.number)
from duebook_receipts r
left join duebook_notifications n on n.id = r.notification_id
where r.notification_id is not null and (r.provider, r.id) > (:provider, :id)
    and (:until_provider is null or (r.provider, r.id) <= (:until_provider, :until_id))
order by r.provider, r.id
limit :limit
