-- Give a new message its position in the conversation; answers nothing for one that is known. An
-- application that counts messages itself gives the position. Whoever posts holds the conversation until the
-- transaction ends, so that positions become visible in order.
with place as (
    insert into duebook.conversations as c (kind, conversation, last_position)
    select :kind, :conversation, coalesce(cast(:position as bigint), 1)
    where not exists (
        select 1 from duebook.messages m
        where m.kind = :kind and m.conversation = :conversation and m.message = :message)
    on conflict (kind, conversation) do update set
        last_position = greatest(c.last_position + (:position is null)::int, excluded.last_position)
    returning coalesce(cast(:position as bigint), last_position) as position
)
insert into duebook.messages (kind, conversation, position, message, author, posted_at)
select :kind, :conversation, position, :message, :author, cast(:now as timestamptz) from place
on conflict do nothing
returning position
