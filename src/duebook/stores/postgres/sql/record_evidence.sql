-- Keep what was learned about an attempt after it was settled; the same news twice is one row, and news
-- of a notification that retention has removed is none.
insert into duebook.evidence (notification_id, number, source, says, at, provider_id, detail)
select notification_id, number, source, says, at, provider_id, detail
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    notification_id bigint, number integer, source text, says text, at timestamptz, provider_id text, detail text)
where exists (select 1 from duebook.notifications n where n.id = r.notification_id)
on conflict do nothing
returning notification_id
