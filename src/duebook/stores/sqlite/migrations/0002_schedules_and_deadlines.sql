-- Recurring schedules, deadlines, what became of periods that were missed, and which database this is.

create table duebook_schedules (
    name text primary key,
    kind text not null,
    recipient text not null,
    tenant text,
    namespace text not null,
    data text not null check (json_valid(data)),
    recurrence text not null check (json_valid(recurrence)),
    zone text not null,
    catch_up text not null check (catch_up in ('all', 'latest', 'combine', 'skip')),
    max_lateness_seconds integer check (max_lateness_seconds > 0),
    most integer not null check (most > 0),
    until_at text,
    version integer not null,
    cursor_at text not null,
    next_at text,
    paused_at text,
    reason text,
    created_at text not null,
    changed_at text not null,
    changed_by text not null,
    constraint a_paused_one_waits_for_nothing check (paused_at is null or next_at is null),
    constraint next_is_not_behind_the_cursor check (next_at >= cursor_at)
) strict;

create index duebook_schedules_next on duebook_schedules (next_at) where next_at is not null;
create index duebook_schedules_recipient on duebook_schedules (recipient, name);

create table duebook_deadlines (
    kind text not null,
    key text not null,
    recipient text not null,
    tenant text,
    namespace text not null,
    data text not null check (json_valid(data)),
    wall text not null,
    zone text not null,
    ends_at text not null,
    term integer not null check (term >= 0),
    first_term integer not null check (first_term between 0 and term),
    state text not null check (state in ('open', 'completed')),
    reason text,
    created_at text not null,
    changed_at text not null,
    changed_by text not null,
    primary key (kind, key)
) strict;

create index duebook_deadlines_recipient on duebook_deadlines (recipient, kind, key);

create table duebook_missed (
    id integer primary key autoincrement,
    source text not null check (source in ('schedule', 'deadline', 'digest')),
    kind text not null,
    name text not null,
    recipient text not null,
    first_label text not null,
    last_label text not null,
    first_at text not null,
    last_at text not null,
    periods integer not null check (periods > 0),
    outcome text not null check (outcome in ('skipped', 'combined')),
    reason text not null,
    combined_into text,
    recorded_at text not null,
    constraint a_combined_one_names_the_other check ((outcome = 'combined') = (combined_into is not null)),
    unique (source, kind, name, first_label)
) strict;

create index duebook_missed_recipient on duebook_missed (recipient, id);
create index duebook_missed_recorded on duebook_missed (kind, recorded_at);

create table duebook_incarnation (
    single integer primary key default 1 check (single = 1),
    identity text not null,
    seen_at text not null
) strict;
