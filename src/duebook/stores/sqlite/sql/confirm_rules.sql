-- Note that promises are the same under other zone rules. No move: nothing about them has changed.
update duebook_notifications set tzdata = :tzdata
where id in (select value from json_each(:ids))
returning id
