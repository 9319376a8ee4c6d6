-- Who tries out a channel whose throttle has run out: one send, before everybody goes on.

alter table duebook_controls add column probing_until text;
alter table duebook_controls add column probing_by text;
