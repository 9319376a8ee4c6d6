-- Remove the schedules of a person.
delete from duebook_schedules where recipient = :recipient returning name
