-- Note that a message is gone: it counts as unread for nobody any more.
update duebook_messages set deleted_at = coalesce(deleted_at, :now)
where kind = :kind and conversation = :conversation and message = :message
returning position
