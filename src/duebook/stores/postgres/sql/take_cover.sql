-- Let notifications speak for their conversations. Fenced by the watermark's version: who has read since, or whose
-- conversation another one speaks for since, is not answered.
insert into duebook.watermarks as w (kind, conversation, recipient, version, cover_id)
select kind, conversation, recipient, 1, id
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    id bigint, kind text, conversation text, recipient text, version integer)
order by kind, conversation, recipient
on conflict (kind, conversation, recipient) do update set version = w.version + 1, cover_id = excluded.cover_id
where w.version = (
    select r.version
    from jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, version integer)
    where r.id = excluded.cover_id)
returning cover_id
