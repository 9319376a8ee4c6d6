-- Remove closed notifications whose identities have been brought up to date.
delete from duebook_notifications
where id in (select value from json_each(:ids))
    and closed_at is not null
returning id
