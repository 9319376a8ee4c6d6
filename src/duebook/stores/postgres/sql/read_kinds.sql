-- The kinds that workers have served.
select kind, channel, priority, seen_at from duebook.kinds order by kind
