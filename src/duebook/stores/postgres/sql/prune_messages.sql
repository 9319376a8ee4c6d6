-- Let go of old messages, a bounded batch at a time; positions go on counting.
delete from duebook.messages
where (kind, conversation, position) in (
    select kind, conversation, position from duebook.messages
    where kind = :kind and posted_at < cast(:before as timestamptz)
    order by posted_at limit :limit for update skip locked)
returning position
