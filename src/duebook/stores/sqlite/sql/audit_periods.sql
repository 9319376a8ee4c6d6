-- A page of recipients' cursors by name, for an audit.
select kind, recipient, open_from, closed_to, next_close_at
from duebook_digest_cursors
where (kind, recipient) > (:kind, :recipient)
    and (:until_kind is null or (kind, recipient) <= (:until_kind, :until_recipient))
order by kind, recipient
limit :limit
