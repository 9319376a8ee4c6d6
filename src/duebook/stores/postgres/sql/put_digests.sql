-- Put closed periods on record, with what each froze.
insert into duebook.digests (
    kind, recipient, label, notification_id, first_label, periods,
    cutoff_at, open_from, total, selected, late, closed_at, unsent)
select
    kind, recipient, label, notification_id, first_label, periods,
    cutoff_at, open_from, total, selected, late, closed_at, unsent
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    kind text, recipient text, label text, notification_id bigint, first_label text, periods integer,
    cutoff_at timestamptz, open_from timestamptz, total integer, selected integer, late integer, closed_at timestamptz,
    unsent text)
