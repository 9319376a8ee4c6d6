-- Wake idle lanes of these channels; a hint, never needed.
select pg_notify('duebook', :channel)
