-- Note which database this is.
insert into duebook.incarnation (identity, seen_at) values (:identity, cast(:now as timestamptz))
on conflict (single) do update set identity = excluded.identity, seen_at = excluded.seen_at
returning identity
