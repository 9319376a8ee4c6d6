-- Local promises still to come that were computed from other zone rules, held until the transaction ends.
select {notification}
from duebook.notifications
where id > :after and wake_at is not null and zone is not null and tzdata <> :tzdata and number = 0
    and due_at > cast(:now as timestamptz)
order by id
limit :limit
for update
