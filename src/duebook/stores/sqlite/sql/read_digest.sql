-- The digest of a recipient and a period, and what became of it.
select d.kind, d.recipient, d.label, d.first_label, d.periods, d.cutoff_at, d.total, d.selected, d.late,
    d.notification_id, d.outcome, n.state, n.reason
from duebook_digests d
left join duebook_notifications n on n.id = d.notification_id
where d.kind = :kind and d.recipient = :recipient and d.label = :label
