-- Put closed periods on record, with what each froze.
insert into duebook_digests (
    kind, recipient, label, notification_id, first_label, periods, cutoff_at, open_from, total, selected, late,
    closed_at, unsent)
select
    value ->> 'kind', value ->> 'recipient', value ->> 'label', value ->> 'notification_id', value ->> 'first_label',
    value ->> 'periods', value ->> 'cutoff_at', value ->> 'open_from', value ->> 'total', value ->> 'selected',
    value ->> 'late', value ->> 'closed_at', value ->> 'unsent'
from json_each(:rows)
