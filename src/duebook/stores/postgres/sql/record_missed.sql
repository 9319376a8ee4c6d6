-- Keep on record which periods got no notification of their own, and why; the same news twice is one row.
insert into duebook.missed (
    source, kind, name, recipient, first_label, last_label, first_at, last_at, periods, outcome, reason,
    combined_into, recorded_at)
select
    source, kind, name, recipient, first_label, last_label, first_at, last_at, periods, outcome, reason,
    combined_into, recorded_at
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    source text, kind text, name text, recipient text, first_label text, last_label text, first_at timestamptz,
    last_at timestamptz, periods integer, outcome text, reason text, combined_into text, recorded_at timestamptz)
on conflict do nothing
returning id
