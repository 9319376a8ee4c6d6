-- A page of addresses that are written to no more, for an audit.
select channel, address, scope
from duebook_suppressions
where (channel, address, scope) > (:channel, :address, :scope)
    and (:until_channel is null or (channel, address, scope) <= (:until_channel, :until_address, :until_scope))
order by channel, address, scope
limit :limit
