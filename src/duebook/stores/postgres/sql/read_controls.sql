-- Every pause, throttle and mode in force or on record.
select scope, paused_at, paused_until, mode, reason, by, at, probing_until from duebook.controls order by scope
