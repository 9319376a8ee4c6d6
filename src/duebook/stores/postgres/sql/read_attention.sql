-- What has reached recipients, or may have, within their limits' time, the newest first, and the version to take more by.
select r.id, coalesce((
    select version from duebook.attention a where a.scope = r.scope and a.recipient = r.recipient), 0), (
    select jsonb_agg(t.at order by t.at desc)
    from duebook.attention_taken t
    join duebook.notifications n on n.id = t.notification_id
    where t.scope = r.scope and t.recipient = r.recipient and t.at > r.since and t.notification_id <> r.id
        and (n.state in ('accepted', 'sending', 'uncertain') or n.doubt > 0))::text
from jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, scope text, recipient text, since timestamptz)
