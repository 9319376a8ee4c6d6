-- Remove how far a person has read.
delete from duebook.watermarks where recipient = :recipient returning kind
