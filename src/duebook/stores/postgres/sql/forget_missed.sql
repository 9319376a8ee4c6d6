-- Erase a person from what was missed.
update duebook.missed set recipient = :alias, reason = 'erased'
where recipient = :recipient
returning id
