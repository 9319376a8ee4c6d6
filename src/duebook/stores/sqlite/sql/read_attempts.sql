-- The ledger of one notification.
select
    notification_id, number, channel, begun_at, ended_at, holder, outcome, reason, phase, provider_id, message_hash,
    resolution, resolved_at
from duebook_attempts
where notification_id = :id
order by number
