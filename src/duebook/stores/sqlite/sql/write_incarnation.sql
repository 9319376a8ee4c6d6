-- Note which database this is.
-- Differs because SQLite numbers an integer primary key itself and ignores its default.
insert into duebook_incarnation (single, identity, seen_at) values (1, :identity, :now)
on conflict (single) do update set identity = excluded.identity, seen_at = excluded.seen_at
returning identity
