-- Remove the schedules of a person.
delete from duebook.schedules where recipient = :recipient returning name
