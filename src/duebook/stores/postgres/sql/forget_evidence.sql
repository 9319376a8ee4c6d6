-- Erase a person from later evidence.
update duebook.evidence set detail = null
where notification_id = any (array(select notification_id from duebook.identities where recipient = :recipient))
returning notification_id
