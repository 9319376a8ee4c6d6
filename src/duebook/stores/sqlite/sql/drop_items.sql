-- What did not fit into a digest of a kind that carries nothing over.
update duebook_digest_items as i set outcome = 'dropped'
from (
    select
        value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'open_from' as open_from,
        value ->> 'cutoff_at' as cutoff_at
    from json_each(:rows)
) as r
where i.kind = r.kind and i.recipient = r.recipient and i.label is null and i.outcome is null
    and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at
