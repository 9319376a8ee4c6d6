-- Erase what was gathered for a person.
delete from duebook_digest_items where recipient = :recipient
