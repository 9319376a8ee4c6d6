-- Erase what is known about a person.
delete from duebook.people where recipient = :recipient
