-- Unread messages that have been read, or deleted, by the time their digest is closed are part of none.
update duebook.digest_items as i set outcome = 'read'
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, unread_of text, open_from timestamptz, cutoff_at timestamptz)
where i.kind = r.kind and i.recipient = r.recipient and i.label is null and i.outcome is null
    and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at
    and (
        exists (
            select 1 from duebook.watermarks w
            where w.kind = r.unread_of and w.conversation = i.data ->> 'conversation' and w.recipient = r.recipient
                and w.up_to >= cast(i.data ->> 'position' as bigint))
        or exists (
            select 1 from duebook.messages m
            where m.kind = r.unread_of and m.conversation = i.data ->> 'conversation'
                and m.position = cast(i.data ->> 'position' as bigint) and m.deleted_at is not null))
