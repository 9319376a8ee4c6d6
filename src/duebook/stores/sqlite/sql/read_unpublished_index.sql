-- Is there an index of what no broker has been told of?
select count(*) from sqlite_master where type = 'index' and name = 'duebook_notifications_unpublished'
