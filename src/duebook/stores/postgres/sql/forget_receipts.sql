-- Erase a person's addresses from what providers said.
update duebook.receipts set address = null, detail = null
where notification_id = any (array(select notification_id from duebook.identities where recipient = :recipient))
