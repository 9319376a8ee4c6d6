-- A page of covers, each with the notification and the conversation it is of, for an audit.
select c.notification_id, c.recipient, c.to_position, n.recipient, v.last_position
from duebook.covers c
left join duebook.notifications n on n.id = c.notification_id
left join duebook.conversations v on v.kind = c.kind and v.conversation = c.conversation
where c.notification_id > :after and c.notification_id <= :until
order by c.notification_id
limit :limit
