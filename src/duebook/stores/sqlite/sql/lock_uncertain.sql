-- Uncertain notifications whose time to be looked at has come.
select {notification}
from duebook_notifications
where state = 'uncertain' and attention_at <= :now
order by attention_at
limit :limit
