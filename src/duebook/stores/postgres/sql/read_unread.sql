-- What is unread for whom, as notifications about it fire: how far each recipient has read, which notification speaks
-- for the conversation and what became of it, and how many messages are unread in all and since that one.
select r.id, w.up_to, w.version, w.cover_id, w.cover_to, w.covered_to, h.key, h.state, h.doubt,
    exists (
        select 1 from duebook.messages m
        where m.kind = r.kind and m.conversation = r.conversation and m.position = r.position
            and m.deleted_at is not null) as gone,
    coalesce((
        select max(m.position) from duebook.messages m
        where m.kind = r.kind and m.conversation = r.conversation), r.position) as last_position,
    (
        select count(*) from duebook.messages m
        where m.kind = r.kind and m.conversation = r.conversation and m.position > coalesce(w.up_to, 0)
            and m.author <> r.recipient and m.deleted_at is null) as total,
    (
        select count(*) from duebook.messages m
        where m.kind = r.kind and m.conversation = r.conversation
            and m.position > greatest(coalesce(w.up_to, 0), coalesce(w.covered_to, 0), case
                when h.state = 'accepted' or h.doubt > 0 then w.cover_to else 0 end)
            and m.author <> r.recipient and m.deleted_at is null) as fresh
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    id bigint, kind text, conversation text, recipient text, position bigint)
left join duebook.watermarks w
    on w.kind = r.kind and w.conversation = r.conversation and w.recipient = r.recipient
left join duebook.notifications h on h.id = w.cover_id
