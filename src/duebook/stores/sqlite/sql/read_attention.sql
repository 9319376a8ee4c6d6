-- What has reached recipients, or may have, within their limits' time, the newest first, and the version to take more by.
select r.id, coalesce((
    select version from duebook_attention a where a.scope = r.scope and a.recipient = r.recipient), 0), (
    select json_group_array(at) from (
        select t.at
        from duebook_attention_taken t
        join duebook_notifications n on n.id = t.notification_id
        where t.scope = r.scope and t.recipient = r.recipient and t.at > r.since and t.notification_id <> r.id
            and (n.state in ('accepted', 'sending', 'uncertain') or n.doubt > 0)
        order by t.at desc))
from (
    select value ->> 'id' as id, value ->> 'scope' as scope, value ->> 'recipient' as recipient,
        value ->> 'since' as since
    from json_each(:rows)
) as r
