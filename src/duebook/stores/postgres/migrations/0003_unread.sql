-- Who has read how far, and which notification speaks for a burst of unread messages.

create table duebook.conversations (
    kind text not null,
    conversation text not null,
    last_position bigint not null check (last_position > 0),
    primary key (kind, conversation)
);

create table duebook.messages (
    kind text not null,
    conversation text not null,
    position bigint not null check (position > 0),
    message text not null,
    author text not null,
    posted_at timestamptz not null,
    deleted_at timestamptz,
    primary key (kind, conversation, position),
    unique (kind, conversation, message)
);

create index messages_posted on duebook.messages (kind, posted_at);

create table duebook.watermarks (
    kind text not null,
    conversation text not null,
    recipient text not null,
    up_to bigint not null default 0 check (up_to >= 0),
    version integer not null default 1,
    cover_id bigint,
    covered_to bigint not null default 0,
    read_at timestamptz,
    read_by text,
    reason text,
    primary key (kind, conversation, recipient)
) with (fillfactor = 80);

create index watermarks_recipient on duebook.watermarks (recipient, kind, conversation);

create table duebook.covers (
    notification_id bigint primary key,
    kind text not null,
    conversation text not null,
    recipient text not null,
    after_position bigint not null,
    to_position bigint not null,
    total integer not null check (total >= fresh),
    fresh integer not null check (fresh >= 0),
    begun_at timestamptz not null,
    constraint it_covers_forwards check (to_position >= after_position)
);

create index covers_place on duebook.covers (kind, conversation, recipient, to_position);
