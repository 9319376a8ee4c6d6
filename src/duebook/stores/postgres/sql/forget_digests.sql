-- Erase a person from the digests.
update duebook.digests set recipient = :alias where recipient = :recipient
