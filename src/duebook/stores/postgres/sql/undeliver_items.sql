-- The items of digests that ended and were not delivered, or may have been.
update duebook.digest_items as i set outcome = 'undelivered'
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, label text, open_from timestamptz, cutoff_at timestamptz)
where i.kind = r.kind and i.recipient = r.recipient and i.label = r.label and i.ready_at >= r.open_from
    and i.ready_at < r.cutoff_at
