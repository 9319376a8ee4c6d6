-- Erase a person from what was missed.
update duebook_missed set recipient = :alias
where recipient = :recipient
returning id
