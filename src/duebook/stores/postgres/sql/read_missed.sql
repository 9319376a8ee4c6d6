-- A page of periods that got no notification of their own, newest first.
select
    id, source, kind, name, recipient, first_label, last_label, first_at, last_at, periods, outcome, reason,
    combined_into, recorded_at
from duebook.missed
where id < :before and (:source is null or source = :source) and (:name is null or name = :name)
order by id desc
limit :limit
