-- The channel's provider takes messages again: everybody goes on.
update duebook_controls set paused_until = null, probing_until = null, probing_by = null
where scope = 'channel:' || :channel and paused_until <= :now
returning scope
