-- What did not fit into a digest of a kind that carries nothing over.
update duebook.digest_items as i set outcome = 'dropped'
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, open_from timestamptz, cutoff_at timestamptz)
where i.kind = r.kind and i.recipient = r.recipient and i.label is null and i.outcome is null
    and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at
