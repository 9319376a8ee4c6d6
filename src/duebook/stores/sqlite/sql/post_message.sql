-- Give a new message its position in the conversation; answers nothing for one that is known. An
-- application that counts messages itself gives the position. Whoever posts holds the conversation until the
-- transaction ends, so that positions become visible in order.
-- Differs because a statement of SQLite writes one table: a trigger on messages keeps the last position.
insert into duebook_messages (kind, conversation, position, message, author, posted_at)
select :kind, :conversation, coalesce(cast(:position as integer), 1 + (
        select last_position from duebook_conversations where kind = :kind and conversation = :conversation), 1),
    :message, :author, :now
where not exists (
    select 1 from duebook_messages
    where kind = :kind and conversation = :conversation and message = :message)
on conflict do nothing
returning position
