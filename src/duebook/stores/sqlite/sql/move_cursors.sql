-- Move recipients' cursors past the period that was closed.
update duebook_digest_cursors as c set
    open_from = r.open_from, closed_to = max(coalesce(c.closed_to, r.closed_to), coalesce(r.closed_to, c.closed_to)),
    next_close_at = r.next_close_at
from (
    select value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'open_from' as open_from,
        value ->> 'closed_to' as closed_to, value ->> 'next_close_at' as next_close_at
    from json_each(:rows)
) as r
where c.kind = r.kind and c.recipient = r.recipient
