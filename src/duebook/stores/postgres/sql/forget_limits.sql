-- Remove how much of a person's attention was counted.
delete from duebook.attention where recipient = :recipient
