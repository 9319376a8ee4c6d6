-- A page of addresses that are written to no more.
select channel, address, scope, reason, at, by
from duebook.suppressions
where (:channel is null or channel = :channel) and (:address is null or address = :address)
    and (channel, address, scope) > (:after_channel, :after_address, :after_scope)
order by channel, address, scope
limit :limit
