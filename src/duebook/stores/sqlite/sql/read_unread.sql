-- What is unread for whom, as notifications about it fire: how far each recipient has read, the furthest that an accepted
-- notification has told them, which others may still tell them more, and how many messages are unread in all and untold.
-- Differs because SQLite joins nothing laterally: each step is a column of an inner query.
select s.id, s.up_to, s.version, s.covered_to, s.told, s.open,
    exists (
        select 1 from duebook_messages m
        where m.kind = s.kind and m.conversation = s.conversation and m.position = s.position
            and m.deleted_at is not null) as gone,
    coalesce((
        select max(m.position) from duebook_messages m
        where m.kind = s.kind and m.conversation = s.conversation), s.position) as last_position,
    (
        select count(*) from duebook_messages m
        where m.kind = s.kind and m.conversation = s.conversation and m.position > s.up_to
            and m.author <> s.recipient and m.deleted_at is null) as total,
    (
        select count(*) from duebook_messages m
        where m.kind = s.kind and m.conversation = s.conversation
            and m.position > max(s.told_to, coalesce((
                select max(c.to_position) from duebook_covers c join duebook_notifications n on n.id = c.notification_id
                where c.kind = s.kind and c.conversation = s.conversation and c.recipient = s.recipient
                    and c.to_position > s.told_to and n.doubt > 0), 0))
            and m.author <> s.recipient and m.deleted_at is null) as fresh
from (
    select t.*, (
        select json_group_array(json_array(c.notification_id, c.to_position, n.key, n.state, n.doubt))
        from duebook_covers c join duebook_notifications n on n.id = c.notification_id
        where c.kind = t.kind and c.conversation = t.conversation and c.recipient = t.recipient
            and c.to_position > t.told_to and (n.doubt > 0 or n.state = 'sending')) as open
    from (
        select f.*, max(f.up_to, f.covered_to, coalesce(f.told ->> 0, 0)) as told_to
        from (
            select r.id, r.kind, r.conversation, r.recipient, r.position, coalesce(w.up_to, 0) as up_to,
                coalesce(w.version, 0) as version, coalesce(w.covered_to, 0) as covered_to, (
                    select json_array(c.to_position, n.key)
                    from duebook_covers c join duebook_notifications n on n.id = c.notification_id
                    where c.kind = r.kind and c.conversation = r.conversation and c.recipient = r.recipient
                        and c.to_position > coalesce(w.up_to, 0) and n.state = 'accepted'
                    order by c.to_position desc limit 1) as told
            from (
                select value ->> 'id' as id, value ->> 'kind' as kind, value ->> 'conversation' as conversation,
                    value ->> 'recipient' as recipient, value ->> 'position' as position
                from json_each(:rows)
            ) as r
            left join duebook_watermarks w
                on w.kind = r.kind and w.conversation = r.conversation and w.recipient = r.recipient
        ) as f
    ) as t
) as s
