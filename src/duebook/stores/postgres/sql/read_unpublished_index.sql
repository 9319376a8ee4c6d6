-- Is there an index of what no broker has been told of?
select count(*) from pg_index i
where i.indexrelid = to_regclass('duebook.notifications_unpublished') and i.indisvalid
