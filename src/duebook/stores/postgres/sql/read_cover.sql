-- What a notification spoke for, if it ever began.
select kind, conversation, recipient, after_position, to_position, total, fresh, begun_at
from duebook.covers where notification_id = :id
