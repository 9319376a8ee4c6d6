-- Erase a person as the author of messages.
update duebook_messages set author = :alias where author = :recipient returning position
