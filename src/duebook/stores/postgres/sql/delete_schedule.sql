-- Remove a schedule; what it has made stays, and so does the memory of its periods.
delete from duebook.schedules where name = :name returning name
