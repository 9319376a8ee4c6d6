-- Erase a person from later evidence.
update duebook_evidence set detail = null
where notification_id in (select notification_id from duebook_identities where recipient = :recipient)
returning notification_id
