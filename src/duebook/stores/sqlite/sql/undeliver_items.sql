-- The items of digests that ended and were not delivered, or may have been.
update duebook_digest_items as i set outcome = 'undelivered'
from (
    select
        value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'label' as label,
        value ->> 'open_from' as open_from, value ->> 'cutoff_at' as cutoff_at
    from json_each(:rows)
) as r
where i.kind = r.kind and i.recipient = r.recipient and i.label = r.label and i.ready_at >= r.open_from
    and i.ready_at < r.cutoff_at
