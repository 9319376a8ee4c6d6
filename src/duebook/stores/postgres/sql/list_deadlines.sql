-- A page of deadlines in the order of their names.
select {deadline}
from duebook.deadlines
where (kind, key) > (:after_kind, :after_key) and (:kind is null or kind = :kind)
    and (:recipient is null or recipient = :recipient) and (:state is null or state = :state)
order by kind, key
limit :limit
