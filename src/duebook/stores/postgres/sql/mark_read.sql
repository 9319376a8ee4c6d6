-- Move a watermark, never back, and withdraw what is pending up to there: one statement, because reading is the
-- commonest move of all. What is on the wire or in doubt keeps the wish. Answers how far the recipient has read.
with seen as (
    select case
        when :position is not null then cast(:position as bigint)
        when :message is null then (
            select last_position from duebook.conversations where kind = :kind and conversation = :conversation)
        else (
            select position from duebook.messages
            where kind = :kind and conversation = :conversation and message = :message)
    end as up_to
), mark as (
    insert into duebook.watermarks as w (kind, conversation, recipient, up_to, read_at, read_by, reason)
    select :kind, :conversation, :recipient, up_to, cast(:now as timestamptz), :by, :reason from seen where up_to > 0
    on conflict (kind, conversation, recipient) do update set
        up_to = excluded.up_to, version = w.version + 1, read_at = excluded.read_at, read_by = excluded.read_by,
        reason = excluded.reason
    where w.up_to < excluded.up_to
    returning up_to
), held as (
    -- The watermark first and the notifications in id order: the order in which begin takes them.
    select n.id, n.state, n.version, n.doubt
    from duebook.notifications n
    where n.group_key = :group and n.closed_at is null
        and cast(n.data ->> 'position' as bigint) <= (select up_to from mark)
    order by n.id
    for update
), moved as (
    update duebook.notifications as n set
        state = case n.doubt when 0 then 'cancelled' else 'uncertain' end,
        event = case n.doubt when 0 then 'cancel' else 'doubt' end,
        version = n.version + 1, moved_at = cast(:now as timestamptz), reason = :reason,
        wake_at = null, lease_until = null, holder = null, review_at = null, alone = false,
        permit = case n.doubt when 0 then n.permit end,
        closed_at = case n.doubt when 0 then cast(:now as timestamptz) end,
        attention_at = case when n.doubt > 0 then cast(:now as timestamptz) end,
        wanted = case when n.doubt > 0 then 'cancelled' end,
        cancel_request = case when n.doubt > 0 then coalesce(n.cancel_request, :reason) else n.cancel_request end,
        message = case when n.doubt = 0 and n.pruned > 0 then null else n.message end
    from held
    where n.id = held.id and held.state in ('scheduled', 'claimed', 'review')
    returning n.id, n.version, n.event, held.state, n.state as next
), told as (
    insert into duebook.history (notification_id, version, at, by, event, state, next, reason)
    select id, version, cast(:now as timestamptz), :by, event, state, next, :reason from moved
), late as (
    update duebook.notifications as n set cancel_request = coalesce(n.cancel_request, :reason)
    from held
    where n.id = held.id and held.state in ('sending', 'uncertain')
)
select coalesce(
    (select up_to from mark),
    (select up_to from duebook.watermarks where kind = :kind and conversation = :conversation and recipient = :recipient),
    0), exists (select 1 from mark)
