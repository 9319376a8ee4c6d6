-- Erase a person from notifications; the fact that something was promised and how it ended stays.
update duebook.notifications set
    recipient = :alias, group_key = null,
    cancel_request = case when cancel_request is null then null else 'erased' end, data = '{}', pruned = greatest(pruned, 1),
    reason = case when reason is null then null else 'erased' end,
    message = case when state in ('sending', 'uncertain') then message else null end
where id = any (array(select notification_id from duebook.identities where recipient = :recipient))
returning id
