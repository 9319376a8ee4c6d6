-- Freeze into each digest its items: the highest scores first, equal ones by name. A statement of its own after the
-- cursors are held, so that it sees what was added until then.
update duebook.digest_items as d set label = r.label
from jsonb_to_recordset(cast(:rows as jsonb)) as r(kind text, recipient text, label text)
where d.kind = r.kind and d.recipient = r.recipient and d.ctid = any (array(
    select at from (
        select i.ctid as at, r.most,
            row_number() over (partition by r.place order by i.score desc, i.item collate "C") as place
        from jsonb_to_recordset(cast(:rows as jsonb)) as r(
            kind text, recipient text, open_from timestamptz, cutoff_at timestamptz, most integer,
            place integer)
        join duebook.digest_items i on i.kind = r.kind and i.recipient = r.recipient
            and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at and i.label is null and i.outcome is null
    ) as ranked
    where place <= most))
