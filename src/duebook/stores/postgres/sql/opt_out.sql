-- Note what a person does not want; the first reason stays. Answers whether it is new.
insert into duebook.opt_outs (recipient, scope, reason, at, by)
values (:recipient, :scope, :reason, cast(:now as timestamptz), :by)
on conflict do nothing
returning scope
