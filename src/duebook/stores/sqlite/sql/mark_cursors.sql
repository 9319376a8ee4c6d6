-- Note that something waits again for recipients, and from when on to look.
update duebook_digest_cursors as c set
    open_from = min(coalesce(c.open_from, r.open_from), r.open_from),
    next_close_at = min(coalesce(c.next_close_at, r.next_close_at), r.next_close_at)
from (
    select value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'open_from' as open_from,
        value ->> 'next_close_at' as next_close_at
    from json_each(:rows)
) as r
where c.kind = r.kind and c.recipient = r.recipient
