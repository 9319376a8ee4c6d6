-- Make moves other than claim and begin. Fenced by version, and by state because the version of an intent is foretold
-- and not read: a row that somebody else moved is not answered.
update duebook.notifications as n set
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
    data = coalesce(cast(r.data as jsonb), n.data), pruned = case when r.event = 'rearm' or r.data is not null then 0 else n.pruned end,
    message = case
        when r.discard or (r.closed_at is not null and n.pruned > 0) then null
        else coalesce(r.message, n.message) end,
    cancel_request = case when r.event in ('redrive', 'rearm') then null else n.cancel_request end
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    id bigint, version integer, state text, event text, next text, at timestamptz, wake_at timestamptz, attention_at timestamptz, review_at timestamptz,
    closed_at timestamptz, reason text, basis text, wanted text, alone boolean, permit text, budget_used integer,
    age_from timestamptz, doubt integer, channel text, provider_id text, due_at timestamptz, wall text, zone text,
    rule text, tzdata text, expires_at timestamptz, data text, message text, discard boolean)
where n.id = r.id and n.version = r.version and n.state = r.state
returning n.id, n.state, n.version, n.doubt, n.cancel_request
