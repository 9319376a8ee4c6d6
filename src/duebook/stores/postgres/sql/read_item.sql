-- An item of a recipient's digests: which digest told it, or why none did.
select kind, recipient, item, ready_at, score, data::text, expires_at, added_at, label, outcome
from duebook.digest_items
where kind = :kind and recipient = :recipient and item = :item
