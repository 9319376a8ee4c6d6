-- Hold a channel for every worker until its provider wants more; never shortens a throttle.
insert into duebook.controls (scope, paused_until, reason, by, at)
values ('channel:' || :channel, cast(:until as timestamptz), :reason, :by, cast(:now as timestamptz))
on conflict (scope) do update set
    paused_until = greatest(duebook.controls.paused_until, excluded.paused_until),
    reason = case when duebook.controls.paused_at is null then excluded.reason else duebook.controls.reason end,
    by = excluded.by, at = excluded.at
returning paused_until
