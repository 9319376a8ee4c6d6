-- Lengthen leases that still run; no transition. Answers the ones that were still held.
update duebook.notifications as n set lease_until = cast(:lease_until as timestamptz)
from jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, version integer)
where n.id = r.id and n.version = r.version and n.lease_until > cast(:now as timestamptz)
returning n.id
