-- People: where and how they want to be reached, and what they do not want.

create table duebook.people (
    recipient text primary key,
    zone text,
    locale text,
    addresses jsonb not null,
    preferred text,
    quiet_from text,
    quiet_until text,
    changed_at timestamptz not null,
    changed_by text not null,
    constraint quiet_hours_have_both_ends check ((quiet_from is null) = (quiet_until is null)),
    constraint quiet_hours_need_a_zone check (quiet_from is null or zone is not null)
);

create table duebook.opt_outs (
    recipient text not null,
    scope text not null,
    reason text not null,
    at timestamptz not null,
    by text not null,
    primary key (recipient, scope)
);
