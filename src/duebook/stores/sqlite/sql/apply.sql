-- Make moves other than claim and begin. Fenced by version, and by state because the version of an intent is foretold
-- and not read: a row that somebody else moved is not answered.
update duebook_notifications as n set
    state = r.next, event = r.event, version = n.version + 1, moved_at = r.at,
    lease_until = null, holder = null, publish_until = null,
    wake_at = r.wake_at, attention_at = r.attention_at, review_at = r.review_at, closed_at = r.closed_at,
    reason = r.reason, basis = r.basis, wanted = r.wanted, alone = coalesce(r.alone, false),
    permit = case when r.next = 'uncertain' then null else coalesce(r.permit, n.permit) end,
    budget_used = coalesce(r.budget_used, n.budget_used),
    age_from = case
        when r.event in ('reschedule', 'redrive', 'rearm', 'resolve_resend') then null
        else coalesce(r.age_from, n.age_from) end,
    doubt = coalesce(r.doubt, n.doubt), channel = coalesce(r.channel, n.channel),
    provider_id = coalesce(r.provider_id, n.provider_id),
    due_at = coalesce(r.due_at, n.due_at),
    wall = case when r.due_at is null then n.wall else r.wall end,
    zone = case when r.due_at is null then n.zone else r.zone end,
    rule = case when r.due_at is null then n.rule else r.rule end,
    tzdata = case when r.due_at is null then n.tzdata else r.tzdata end,
    expires_at = case when r.due_at is null then n.expires_at else r.expires_at end,
    data = coalesce(r.data, n.data), pruned = case when r.event = 'rearm' or r.data is not null then 0 else n.pruned end,
    message = case
        when r.discard or (r.closed_at is not null and n.pruned > 0) then null
        else coalesce(r.message, n.message) end,
    cancel_request = case when r.event in ('redrive', 'rearm') then null else n.cancel_request end
from (
    select value ->> 'id' as id, value ->> 'version' as version, value ->> 'state' as state,
        value ->> 'event' as event,
        value ->> 'next' as next, value ->> 'at' as at, value ->> 'wake_at' as wake_at,
        value ->> 'attention_at' as attention_at,
        value ->> 'review_at' as review_at, value ->> 'closed_at' as closed_at,
        value ->> 'reason' as reason, value ->> 'basis' as basis, value ->> 'wanted' as wanted,
        value ->> 'alone' as alone, value ->> 'permit' as permit, value ->> 'budget_used' as budget_used,
        value ->> 'age_from' as age_from, value ->> 'doubt' as doubt, value ->> 'channel' as channel,
        value ->> 'provider_id' as provider_id, value ->> 'due_at' as due_at, value ->> 'wall' as wall,
        value ->> 'zone' as zone, value ->> 'rule' as rule, value ->> 'tzdata' as tzdata,
        value ->> 'expires_at' as expires_at, value ->> 'data' as data,
        value ->> 'message' as message, value ->> 'discard' as discard
    from json_each(:rows)
) as r
where n.id = r.id and n.version = r.version and n.state = r.state
returning id, state, version, doubt, cancel_request
