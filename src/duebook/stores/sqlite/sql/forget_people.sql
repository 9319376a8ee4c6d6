-- Erase what is known about a person.
delete from duebook_people where recipient = :recipient
