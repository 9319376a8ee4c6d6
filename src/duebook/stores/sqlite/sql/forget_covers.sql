-- Erase a person from the covers.
update duebook_covers set recipient = :alias where recipient = :recipient returning notification_id
