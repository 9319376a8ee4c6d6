-- A page of items that wait for a digest of a recipient, in the order they would be taken.
select item, ready_at, score, data::text, expires_at
from duebook.digest_items
where kind = :kind and recipient = :recipient and label is null and outcome is null
order by score desc, item collate "C"
limit :limit
