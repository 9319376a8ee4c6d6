-- Uncertain notifications of the kinds served here whose time to be looked at has come.
select {notification}
from duebook_notifications
where attention_at <= :now
    and kind in (select value from json_each(:kinds))
order by attention_at
limit :limit
