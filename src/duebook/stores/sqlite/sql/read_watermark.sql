-- How far a recipient has read, and which notification spoke last.
select up_to, version, cover_id, covered_to, read_at
from duebook_watermarks
where kind = :kind and conversation = :conversation and recipient = :recipient
