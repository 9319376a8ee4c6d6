-- One schedule, as it is now.
select {schedule} from duebook_schedules where name = :name
