-- Take the one send that tries out a channel whose throttle has run out; answered to one worker until its time is over.
update duebook_controls set probing_until = :until, probing_by = :holder
where scope = 'channel:' || :channel and paused_until <= :now
    and (probing_by = :holder or probing_until is null or probing_until <= :now)
returning scope
