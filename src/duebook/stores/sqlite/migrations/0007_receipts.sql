-- What providers say later about messages, and addresses that are written to no more.

create table duebook_receipts (
    provider text not null,
    id text not null,
    event text not null check (event in ('delivered', 'bounced', 'complained', 'delayed', 'refused')),
    at text not null,
    provider_id text,
    reference text,
    address text,
    permanent integer not null check (permanent in (0, 1)),
    detail text,
    received_at text not null,
    notification_id integer,
    number integer,
    primary key (provider, id),
    constraint what_is_matched_has_an_attempt check ((notification_id is null) = (number is null))
) strict;

create index duebook_receipts_unmatched on duebook_receipts (received_at) where notification_id is null;
create index duebook_receipts_notification on duebook_receipts (notification_id) where notification_id is not null;
create index duebook_attempts_provider on duebook_attempts (provider_id) where provider_id is not null;

create table duebook_suppressions (
    channel text not null,
    address text not null,
    scope text not null,
    reason text not null,
    at text not null,
    by text not null,
    primary key (channel, address, scope)
) strict;
