-- Write the ledger entries of finished attempts.
insert into duebook_attempts (
    notification_id, number, channel, begun_at, ended_at, holder, outcome, reason, phase, provider_id, message_hash)
select
    notification_id, number, channel, begun_at, ended_at, holder, outcome, reason, phase, provider_id, message_hash
from (
    select value ->> 'notification_id' as notification_id, value ->> 'number' as number,
        value ->> 'channel' as channel, value ->> 'begun_at' as begun_at, value ->> 'ended_at' as ended_at,
        value ->> 'holder' as holder, value ->> 'outcome' as outcome, value ->> 'reason' as reason,
        value ->> 'phase' as phase, value ->> 'provider_id' as provider_id,
        value ->> 'message_hash' as message_hash
    from json_each(:rows)
) as r
returning notification_id
