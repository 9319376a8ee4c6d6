-- Remove a person's place in the periods.
delete from duebook.digest_cursors where recipient = :recipient
