-- Write down moves that are no attempt: who did what, when and why.
insert into duebook.history (notification_id, version, at, by, event, state, next, reason)
select id, version + 1, at, by, event, state, next, reason
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    id bigint, version integer, at timestamptz, by text, event text, state text, next text, reason text)
returning notification_id
