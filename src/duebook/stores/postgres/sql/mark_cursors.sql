-- Note that something waits again for recipients, and from when on to look.
update duebook.digest_cursors as c set
    open_from = least(c.open_from, r.open_from), next_close_at = least(c.next_close_at, r.next_close_at)
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, open_from timestamptz, next_close_at timestamptz)
where c.kind = r.kind and c.recipient = r.recipient
