-- Take attention of recipients. Fenced by version: where another notification took some since, it is not answered.
insert into duebook_attention as a (scope, recipient, version)
select value ->> 'scope', value ->> 'recipient', 1 from json_each(:rows)
where true
on conflict (scope, recipient) do update set version = a.version + 1
where a.version = (
    select value ->> 'version' from json_each(:rows)
    where value ->> 'scope' = excluded.scope and value ->> 'recipient' = excluded.recipient)
returning scope, recipient
