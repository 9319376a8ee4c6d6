-- Digests with what they froze, in its order, by their notifications; and what of it has been read since, where it is
-- about messages.
select d.notification_id, d.kind, d.recipient, d.label, d.first_label, d.periods, d.cutoff_at, d.total, d.late, (
    select jsonb_agg(jsonb_build_array(i.item, i.ready_at, i.score, i.data, (
        exists (
            select 1 from duebook.watermarks w
            where w.kind = i.data ->> 'unread_of' and w.conversation = i.data ->> 'conversation'
                and w.recipient = d.recipient and w.up_to >= cast(i.data ->> 'position' as bigint)))::int)
        order by i.score desc, i.item collate "C")
    from duebook.digest_items i
    where i.kind = d.kind and i.recipient = d.recipient and i.label = d.label and i.ready_at >= d.open_from
        and i.ready_at < d.cutoff_at)::text
from duebook.digests d
where d.notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint))
