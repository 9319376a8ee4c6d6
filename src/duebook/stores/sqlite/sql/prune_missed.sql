-- Let go of what was missed long ago, a bounded batch at a time.
delete from duebook_missed
where id in (select id from duebook_missed where kind = :kind and recorded_at < :before order by recorded_at limit :limit)
returning id
