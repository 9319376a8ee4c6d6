-- Unread messages that have been read, or deleted, by the time their digest is closed are part of none.
update duebook_digest_items as i set outcome = 'read'
from (
    select
        value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'unread_of' as unread_of,
        value ->> 'open_from' as open_from, value ->> 'cutoff_at' as cutoff_at
    from json_each(:rows)
) as r
where i.kind = r.kind and i.recipient = r.recipient and i.label is null and i.outcome is null
    and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at
    and (
        exists (
            select 1 from duebook_watermarks w
            where w.kind = r.unread_of and w.conversation = i.data ->> 'conversation' and w.recipient = r.recipient
                and w.up_to >= i.data ->> 'position')
        or exists (
            select 1 from duebook_messages m
            where m.kind = r.unread_of and m.conversation = i.data ->> 'conversation'
                and m.position = i.data ->> 'position' and m.deleted_at is not null))
