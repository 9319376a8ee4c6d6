-- Lengthen leases that still run; no transition. Answers the ones that were still held.
update duebook_notifications as n set lease_until = :lease_until
from (
    select value ->> 'id' as id, value ->> 'version' as version
    from json_each(:rows)
) as r
where n.id = r.id and n.version = r.version and n.lease_until > :now
returning id
