-- Erase what a person did not want.
delete from duebook_opt_outs where recipient = :recipient
