-- Let notifications speak for their conversations. Fenced by the watermark's version: who has read since, or whose
-- conversation another one speaks for since, is not answered.
insert into duebook_watermarks as w (kind, conversation, recipient, version, cover_id)
select value ->> 'kind', value ->> 'conversation', value ->> 'recipient', 1, value ->> 'id'
from json_each(:rows)
where true
on conflict (kind, conversation, recipient) do update set version = w.version + 1, cover_id = excluded.cover_id
where w.version = (select value ->> 'version' from json_each(:rows) where value ->> 'id' = excluded.cover_id)
returning cover_id
