-- Take attention of recipients. Fenced by version: where another notification took some since, it is not answered.
insert into duebook.attention as a (scope, recipient, version)
select scope, recipient, 1 from jsonb_to_recordset(cast(:rows as jsonb)) as r(scope text, recipient text)
order by scope, recipient
on conflict (scope, recipient) do update set version = a.version + 1
where a.version = (
    select r.version
    from jsonb_to_recordset(cast(:rows as jsonb)) as r(scope text, recipient text, version integer)
    where r.scope = excluded.scope and r.recipient = excluded.recipient)
returning scope, recipient
