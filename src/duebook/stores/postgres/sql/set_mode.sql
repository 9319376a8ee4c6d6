-- Switch a kind between live, shadow and off.
insert into duebook.controls (scope, mode, reason, by, at)
values (:scope, :mode, :reason, :by, cast(:now as timestamptz))
on conflict (scope) do update set
    mode = excluded.mode, reason = excluded.reason, by = excluded.by, at = excluded.at
returning scope
