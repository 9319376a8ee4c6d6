-- Note that a person wants something again.
delete from duebook_opt_outs where recipient = :recipient and scope = :scope returning scope
