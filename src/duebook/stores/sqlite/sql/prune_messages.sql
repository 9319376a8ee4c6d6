-- Let go of old messages, a bounded batch at a time; positions go on counting.
delete from duebook_messages
where (kind, conversation, position) in (
    select kind, conversation, position from duebook_messages
    where kind = :kind and posted_at < :before
    order by posted_at limit :limit)
returning position
