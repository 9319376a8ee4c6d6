-- What each digest took and what is left: how many items it holds, how many of them had missed the cutoff they were
-- ready for, how many did not fit, and since when the oldest waits that did not fit, or that is of a later period.
select r.kind, r.recipient,
    count(*) filter (where i.label = r.label),
    count(*) filter (where i.label = r.label and i.ready_at < r.previous_at),
    count(*) filter (where i.label is null and i.ready_at < r.cutoff_at),
    min(i.ready_at) filter (where i.label is null and i.ready_at < r.cutoff_at),
    min(i.ready_at) filter (where i.label is null and i.ready_at >= r.cutoff_at)
from (
    select
        value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'label' as label,
        value ->> 'open_from' as open_from, value ->> 'cutoff_at' as cutoff_at,
        value ->> 'previous_at' as previous_at
    from json_each(:rows)
) as r
join duebook_digest_items i on i.kind = r.kind and i.recipient = r.recipient and i.ready_at >= r.open_from
    and i.outcome is null and (i.label is null or i.label = r.label)
group by r.kind, r.recipient
