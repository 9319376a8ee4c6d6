-- Move a watermark, never back, and withdraw what is pending up to there: one statement, because reading is the
-- commonest move of all. What is on the wire or in doubt keeps the wish. Answers how far the recipient has read.
-- Differs because a statement of SQLite writes one table: a trigger on the watermark withdraws.
insert into duebook_watermarks as w (kind, conversation, recipient, up_to, read_at, read_by, reason)
select :kind, :conversation, :recipient, up_to, :now, :by, :reason
from (
    select case
        when :position is not null then cast(:position as integer)
        when :message is null then (
            select last_position from duebook_conversations where kind = :kind and conversation = :conversation)
        else (
            select position from duebook_messages
            where kind = :kind and conversation = :conversation and message = :message)
    end as up_to
) as seen
where up_to > 0 and :group is not null
on conflict (kind, conversation, recipient) do update set
    up_to = excluded.up_to, version = w.version + 1, read_at = excluded.read_at, read_by = excluded.read_by,
    reason = excluded.reason
where w.up_to < excluded.up_to
returning up_to, 1
