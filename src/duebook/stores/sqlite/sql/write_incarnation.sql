-- Note which database this is.
insert into duebook_incarnation (identity, seen_at) values (:identity, :now)
on conflict (single) do update set identity = excluded.identity, seen_at = excluded.seen_at
returning identity
