-- Pause (at given) or resume (null) a scope.
insert into duebook_controls (scope, paused_at, reason, by, at)
values (:scope, :paused_at, :reason, :by, :now)
on conflict (scope) do update set
    paused_at = excluded.paused_at, paused_until = null, reason = excluded.reason, by = excluded.by, at = excluded.at
returning scope
