-- The kinds that workers have served.
select kind, channel, priority, seen_at from duebook_kinds order by kind
