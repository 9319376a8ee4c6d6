-- Erase a person from what was missed.
update duebook_missed set recipient = :alias, reason = 'erased'
where recipient = :recipient
returning id
