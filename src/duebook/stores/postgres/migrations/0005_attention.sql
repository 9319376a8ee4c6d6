-- How much of a recipient's attention has been taken, where kinds share a limit.

create table duebook.attention (
    scope text not null,
    recipient text not null,
    version integer not null,
    primary key (scope, recipient)
);

create table duebook.attention_taken (
    notification_id bigint not null,
    scope text not null,
    recipient text not null,
    at timestamptz not null,
    primary key (notification_id, scope)
);

create index attention_taken_at on duebook.attention_taken (scope, recipient, at);
