-- Write the ledger entries of finished attempts.
insert into duebook.attempts (
    notification_id, number, channel, begun_at, ended_at, holder, outcome, reason, phase, provider_id, message_hash)
select
    notification_id, number, channel, begun_at, ended_at, holder, outcome, reason, phase, provider_id, message_hash
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    notification_id bigint, number integer, channel text, begun_at timestamptz, ended_at timestamptz, holder text,
    outcome text, reason text, phase text, provider_id text, message_hash text)
returning notification_id
