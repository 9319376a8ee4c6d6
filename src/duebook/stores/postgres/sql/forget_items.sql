-- Erase what was gathered for a person.
delete from duebook.digest_items where recipient = :recipient
