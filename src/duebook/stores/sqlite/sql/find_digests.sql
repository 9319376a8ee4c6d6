-- A page of digests, newest first, and what became of each.
select d.kind, d.recipient, d.label, d.first_label, d.periods, d.cutoff_at, d.total, d.selected, d.late,
    d.notification_id, d.outcome, n.state, n.reason
from duebook_digests d
left join duebook_notifications n on n.id = d.notification_id
where (:kind is null or d.kind = :kind) and (:recipient is null or d.recipient = :recipient)
    and d.notification_id < :before
order by d.notification_id desc
limit :limit
