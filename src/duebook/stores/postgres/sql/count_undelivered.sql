-- How many digests ended undelivered, and how many items were in them, by kind.
select kind, count(*), sum(selected) from duebook.digests where outcome = 'undelivered' group by kind order by kind
