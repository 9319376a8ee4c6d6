-- What is unread for whom, as notifications about it fire: how far each recipient has read, the furthest that an accepted
-- notification has told them, which others may still tell them more, and how many messages are unread in all and untold.
select r.id, coalesce(w.up_to, 0), coalesce(w.version, 0), coalesce(w.covered_to, 0),
    case when told.key is not null then jsonb_build_array(told.up_to, told.key)::text end, open.covers::text,
    exists (
        select 1 from duebook.messages m
        where m.kind = r.kind and m.conversation = r.conversation and m.position = r.position
            and m.deleted_at is not null) as gone,
    coalesce((
        select max(m.position) from duebook.messages m
        where m.kind = r.kind and m.conversation = r.conversation), r.position) as last_position,
    unread.total, unread.fresh
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    id bigint, kind text, conversation text, recipient text, position bigint)
left join duebook.watermarks w
    on w.kind = r.kind and w.conversation = r.conversation and w.recipient = r.recipient
left join lateral (
    select c.to_position as up_to, n.key
    from duebook.covers c join duebook.notifications n on n.id = c.notification_id
    where c.kind = r.kind and c.conversation = r.conversation and c.recipient = r.recipient
        and c.to_position > coalesce(w.up_to, 0) and n.state = 'accepted'
    order by c.to_position desc limit 1
) as told on true
cross join lateral (
    select max(c.to_position) filter (where n.doubt > 0) as up_to,
        jsonb_agg(jsonb_build_array(c.notification_id, c.to_position, n.key, n.state, n.doubt)) as covers
    from duebook.covers c join duebook.notifications n on n.id = c.notification_id
    where c.kind = r.kind and c.conversation = r.conversation and c.recipient = r.recipient
        and c.to_position > greatest(w.up_to, w.covered_to, told.up_to, 0) and (n.doubt > 0 or n.state = 'sending')
) as open
cross join lateral (
    select count(*) as total,
        count(*) filter (where m.position > greatest(w.covered_to, told.up_to, open.up_to, 0)) as fresh
    from duebook.messages m
    where m.kind = r.kind and m.conversation = r.conversation and m.position > coalesce(w.up_to, 0)
        and m.author <> r.recipient and m.deleted_at is null
) as unread
