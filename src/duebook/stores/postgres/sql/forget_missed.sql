-- Erase a person from what was missed.
update duebook.missed set recipient = :alias
where recipient = :recipient
returning id
