-- Who tries out a channel whose throttle has run out: one send, before everybody goes on.

alter table duebook.controls add column probing_until timestamptz;
alter table duebook.controls add column probing_by text;
