-- Note what a person does not want; the first reason stays. Answers whether it is new.
insert into duebook_opt_outs (recipient, scope, reason, at, by)
values (:recipient, :scope, :reason, :now, :by)
on conflict do nothing
returning scope
