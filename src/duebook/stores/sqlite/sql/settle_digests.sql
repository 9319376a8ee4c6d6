-- Note what was done about the items of digests that ended.
update duebook_digests as d set outcome = r.outcome
from (
    select value ->> 'notification_id' as notification_id, value ->> 'outcome' as outcome from json_each(:rows)
) as r
where d.notification_id = r.notification_id
