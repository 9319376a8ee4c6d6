-- Items that are worth nothing any more, or that the catch-up policy gives up, before a period is closed.
update duebook.digest_items as i set outcome = 'expired'
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, open_from timestamptz, cutoff_at timestamptz, fresh_from timestamptz)
where i.kind = r.kind and i.recipient = r.recipient and i.label is null and i.outcome is null
    and i.ready_at >= r.open_from and i.ready_at < r.cutoff_at
    and (i.expires_at <= cast(:now as timestamptz) or i.ready_at < r.fresh_from)
