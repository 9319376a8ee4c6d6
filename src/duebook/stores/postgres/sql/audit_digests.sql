-- A page of digests by name, each with how many items it holds and what became of its notification, for an audit.
select d.kind, d.recipient, d.label, d.selected, d.outcome, n.state,
    (
        select count(*) from duebook.digest_items i
        where i.kind = d.kind and i.recipient = d.recipient and i.label = d.label and i.ready_at >= d.open_from
            and i.ready_at < d.cutoff_at),
    exists (select 1 from duebook.digest_cursors c where c.kind = d.kind and c.recipient = d.recipient)
from duebook.digests d
left join duebook.notifications n on n.id = d.notification_id
where (d.kind, d.recipient, d.label) > (:kind, :recipient, :label)
    and (:until_kind is null or (d.kind, d.recipient, d.label) <= (:until_kind, :until_recipient, :until_label))
order by d.kind, d.recipient, d.label
limit :limit
