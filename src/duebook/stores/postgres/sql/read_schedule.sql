-- One schedule, as it is now.
select {schedule} from duebook.schedules where name = :name
