-- The channel's provider takes messages again: everybody goes on.
update duebook.controls set paused_until = null, probing_until = null, probing_by = null
where scope = 'channel:' || :channel and paused_until <= cast(:now as timestamptz)
returning scope
