-- How much of a recipient's attention has been taken, where kinds share a limit.

create table duebook_attention (
    scope text not null,
    recipient text not null,
    version integer not null,
    primary key (scope, recipient)
) strict;

create table duebook_attention_taken (
    notification_id integer not null,
    scope text not null,
    recipient text not null,
    at text not null,
    primary key (notification_id, scope)
) strict;

create index duebook_attention_taken_at on duebook_attention_taken (scope, recipient, at);
