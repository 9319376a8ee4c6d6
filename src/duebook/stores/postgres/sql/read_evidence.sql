-- What was learned later about the attempts of one notification.
select notification_id, number, at, source, says, provider_id, detail
from duebook.evidence
where notification_id = :id
order by at, number
