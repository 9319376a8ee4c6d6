-- Every pause, throttle and mode in force or on record.
select scope, paused_at, paused_until, mode, reason, by, at from duebook_controls order by scope
