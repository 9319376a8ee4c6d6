-- Closed notifications of a kind at one level of pruning (0 whole, 1 without bodies, 2 without ledger) past an age.
select id
from duebook.notifications
where kind = :kind and pruned = :pruned and closed_at < cast(:before as timestamptz)
order by closed_at
limit :limit
for update skip locked
