-- Erase what a person did not want.
delete from duebook.opt_outs where recipient = :recipient
