-- The channels with a shared rate, and the microsecond at which the next send of each is free: an audit asks whether
-- what is overdue waits for its turn.
select substr(scope, 9), rate_next from duebook.controls where rate_next is not null and scope like 'channel:%'
