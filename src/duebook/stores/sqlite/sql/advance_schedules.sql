-- Move schedules past the periods that have been seen to. Fenced by version, so that no period is seen to twice.
update duebook_schedules as s set version = s.version + 1, cursor_at = r.cursor_at, next_at = r.next_at
from (
    select value ->> 'name' as name, value ->> 'version' as version, value ->> 'cursor_at' as cursor_at,
        value ->> 'next_at' as next_at
    from json_each(:rows)
) as r
where s.name = r.name and s.version = r.version
returning name
