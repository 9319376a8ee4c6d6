-- Erase a person from the digests.
update duebook_digests set recipient = :alias where recipient = :recipient
