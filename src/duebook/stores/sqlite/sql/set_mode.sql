-- Switch a kind between live, shadow and off.
insert into duebook_controls (scope, mode, reason, by, at)
values (:scope, :mode, :reason, :by, :now)
on conflict (scope) do update set
    mode = excluded.mode, reason = excluded.reason, by = excluded.by, at = excluded.at
returning scope
