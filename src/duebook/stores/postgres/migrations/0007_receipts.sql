-- What providers say later about messages, and addresses that are written to no more.

create table duebook.receipts (
    provider text not null,
    id text not null,
    event text not null check (event in ('delivered', 'bounced', 'complained', 'delayed', 'refused')),
    at timestamptz not null,
    provider_id text,
    reference text,
    address text,
    permanent boolean not null,
    detail text,
    received_at timestamptz not null,
    notification_id bigint,
    number integer,
    primary key (provider, id),
    constraint what_is_matched_has_an_attempt check ((notification_id is null) = (number is null))
);

create index receipts_unmatched on duebook.receipts (received_at) where notification_id is null;
create index receipts_notification on duebook.receipts (notification_id) where notification_id is not null;
create index attempts_provider on duebook.attempts (provider_id) where provider_id is not null;

create table duebook.suppressions (
    channel text not null,
    address text not null,
    scope text not null,
    reason text not null,
    at timestamptz not null,
    by text not null,
    primary key (channel, address, scope)
);
