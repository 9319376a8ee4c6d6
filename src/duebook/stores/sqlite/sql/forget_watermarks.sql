-- Remove how far a person has read.
delete from duebook_watermarks where recipient = :recipient returning kind
