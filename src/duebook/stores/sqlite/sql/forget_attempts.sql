-- Erase a person from the ledger.
update duebook_attempts set reason = case when reason is null then null else 'erased' end
where notification_id in (select notification_id from duebook_identities where recipient = :recipient)
returning notification_id
