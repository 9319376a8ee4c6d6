-- Items that are worth nothing any more, or that the catch-up policy gives up, before a period is closed.
update duebook_digest_items as i set outcome = 'expired'
from (
    select
        value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'open_from' as open_from,
        value ->> 'cutoff_at' as cutoff_at, value ->> 'fresh_from' as fresh_from
    from json_each(:rows)
) as r
where i.kind = r.kind and i.recipient = r.recipient and i.label is null and i.outcome is null
    and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at
    and (i.expires_at <= :now or i.ready_at < r.fresh_from)
