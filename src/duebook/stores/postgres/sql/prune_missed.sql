-- Let go of what was missed long ago, a bounded batch at a time.
delete from duebook.missed
where id = any (array(
    select id from duebook.missed
    where kind = :kind and recorded_at < cast(:before as timestamptz)
    order by recorded_at limit :limit for update skip locked))
returning id
