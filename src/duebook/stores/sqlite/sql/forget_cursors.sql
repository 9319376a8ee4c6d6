-- Remove a person's place in the periods.
delete from duebook_digest_cursors where recipient = :recipient
