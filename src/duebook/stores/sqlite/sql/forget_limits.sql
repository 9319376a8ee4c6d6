-- Remove how much of a person's attention was counted.
delete from duebook_attention where recipient = :recipient
