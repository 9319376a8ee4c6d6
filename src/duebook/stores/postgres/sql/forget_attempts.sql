-- Erase a person from the ledger.
update duebook.attempts set reason = case when reason is null then null else 'erased' end
where notification_id = any (array(select notification_id from duebook.identities where recipient = :recipient))
returning notification_id
