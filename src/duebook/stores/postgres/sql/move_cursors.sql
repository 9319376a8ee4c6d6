-- Move recipients' cursors past the period that was closed.
update duebook.digest_cursors as c set
    open_from = r.open_from, closed_to = greatest(c.closed_to, r.closed_to), next_close_at = r.next_close_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, open_from timestamptz, closed_to timestamptz, next_close_at timestamptz)
where c.kind = r.kind and c.recipient = r.recipient
