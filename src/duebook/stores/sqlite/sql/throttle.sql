-- Hold a channel for every worker until its provider wants more; never shortens a throttle.
insert into duebook_controls (scope, paused_until, reason, by, at)
values ('channel:' || :channel, :until, :reason, :by, :now)
on conflict (scope) do update set
    paused_until = max(coalesce(duebook_controls.paused_until, ''), excluded.paused_until),
    reason = case when duebook_controls.paused_at is null then excluded.reason else duebook_controls.reason end,
    by = excluded.by, at = excluded.at
returning paused_until
