-- Erase a person's addresses from what providers said.
update duebook_receipts set address = null, detail = null
where notification_id in (select notification_id from duebook_identities where recipient = :recipient)
