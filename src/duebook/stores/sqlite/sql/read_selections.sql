-- Digests with what they froze, in its order, by their notifications; and what of it has been read since, where it is
-- about messages.
select d.notification_id, d.kind, d.recipient, d.label, d.first_label, d.periods, d.cutoff_at, d.total, d.late, (
    select json_group_array(json_array(item, ready_at, score, json(data), read)) from (
        select i.item, i.ready_at, i.score, i.data, exists (
            select 1 from duebook_watermarks w
            where w.kind = i.data ->> 'unread_of' and w.conversation = i.data ->> 'conversation'
                and w.recipient = d.recipient and w.up_to >= i.data ->> 'position') as read
        from duebook_digest_items i
        where i.kind = d.kind and i.recipient = d.recipient and i.label = d.label and i.ready_at >= d.open_from
            and i.ready_at < d.cutoff_at
        order by i.score desc, i.item))
from duebook_digests d
where d.notification_id in (select value from json_each(:ids))
