-- Closed notifications of a kind at one level of pruning (0 whole, 1 without bodies, 2 without ledger) past an age.
select id
from duebook_notifications
where kind = :kind and pruned = :pruned and closed_at < :before
order by closed_at
limit :limit
