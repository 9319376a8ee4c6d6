-- Move schedules past the periods that have been seen to. Fenced by version, so that no period is seen to twice.
update duebook.schedules as s set version = s.version + 1, cursor_at = r.cursor_at, next_at = r.next_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    name text, version integer, cursor_at timestamptz, next_at timestamptz)
where s.name = r.name and s.version = r.version
returning s.name
