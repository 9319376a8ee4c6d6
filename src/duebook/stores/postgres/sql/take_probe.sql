-- Take the one send that tries out a channel whose throttle has run out; answered to one worker until its time is over.
update duebook.controls set probing_until = cast(:until as timestamptz), probing_by = :holder
where scope = 'channel:' || :channel and paused_until <= cast(:now as timestamptz)
    and (probing_by = :holder or probing_until is null or probing_until <= cast(:now as timestamptz))
returning scope
