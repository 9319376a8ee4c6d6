-- Uncertain notifications whose time to be looked at has come.
select {notification}
from duebook.notifications
where state = 'uncertain' and attention_at <= cast(:now as timestamptz)
order by attention_at
limit :limit
for update skip locked
