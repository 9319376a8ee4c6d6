-- Erase a person from the identities.
update duebook.identities set recipient = :alias, reason = case when reason is null then null else 'erased' end
where recipient = :recipient
returning notification_id
