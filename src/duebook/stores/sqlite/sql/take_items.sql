-- Freeze into each digest its items: the highest scores first, equal ones by name. A statement of its own after the
-- cursors are held, so that it sees what was added until then.
update duebook_digest_items as d set label = r.label
from (
    select i.rowid as at, r.label, r.most,
        row_number() over (partition by r.place order by i.score desc, i.item) as place
    from (
        select
            value ->> 'kind' as kind, value ->> 'recipient' as recipient, value ->> 'label' as label,
            value ->> 'open_from' as open_from, value ->> 'cutoff_at' as cutoff_at, value ->> 'most' as most,
            value ->> 'place' as place
        from json_each(:rows)
    ) as r
    join duebook_digest_items i on i.kind = r.kind and i.recipient = r.recipient
        and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at and i.label is null and i.outcome is null
) as r
where d.rowid = r.at and r.place <= r.most
