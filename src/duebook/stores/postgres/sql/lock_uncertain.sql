-- Uncertain notifications of the kinds served here whose time to be looked at has come.
select {notification}
from duebook.notifications
where attention_at <= cast(:now as timestamptz)
    and kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
order by attention_at
limit :limit
for update skip locked
