-- Erase a person from the covers.
update duebook.covers set recipient = :alias where recipient = :recipient returning notification_id
