-- The first schema: promises, their ledger, and what steers the workers.
--
-- Tables carry a prefix, to live beside an application's own. Instants are text of one width in UTC, so that they sort
-- as they read. The trigger on notifications holds the lifecycle (state, event, next), so that
-- an illegal change of state is refused here too, also from the
-- sqlite3 shell. Indexes hang on instants that are null when they
-- mean nothing, never on the state, so that `begin` changes no indexed column and stays a heap-only update.

create table duebook_migrations (
    version integer primary key,
    name text not null,
    applied_at text not null
) strict;

create table duebook_notifications (
    id integer primary key autoincrement,
    kind text not null,
    key text not null,
    recipient text not null,
    tenant text,
    namespace text not null,
    channel text not null,
    priority integer not null check (priority between 0 and 2),
    group_key text,
    data text not null check (json_valid(data)),
    due_at text not null,
    wall text,
    zone text,
    rule text,
    tzdata text,
    expires_at text,
    state text not null,
    event text not null,
    version integer not null,
    wake_at text,
    lease_until text,
    attention_at text,
    closed_at text,
    holder text,
    alone integer not null default 0 check (alone in (0, 1)),
    number integer not null default 0,
    budget_used integer not null default 0,
    age_from text not null,
    doubt integer not null default 0,
    permit text check (permit in ('key', 'absence', 'ruled')),
    reason text,
    basis text check (basis in ('reported', 'evidence', 'ruled', 'assumed')),
    wanted text,
    cancel_request text,
    message text,
    rendered_at text,
    begun_at text,
    first_begun_at text,
    provider_id text,
    created_at text not null,
    moved_at text not null,
    pruned integer not null default 0 check (pruned between 0 and 2),
    constraint a_scheduled_one_has_a_time check ((state = 'scheduled') = (wake_at is not null)),
    constraint a_held_one_has_a_lease check ((state in ('claimed', 'sending')) = (lease_until is not null)),
    constraint a_held_one_has_a_holder check ((lease_until is null) = (holder is null)),
    constraint an_open_question_has_a_time check ((state in ('uncertain', 'review')) = (attention_at is not null)),
    constraint a_closed_one_has_a_time check (
        (state in ('accepted', 'skipped', 'cancelled', 'dropped')) = (closed_at is not null)),
    constraint an_accepted_one_has_a_basis check ((state = 'accepted') = (basis is not null)),
    constraint a_closed_one_has_a_reason check (closed_at is null or basis is not null or reason is not null),
    constraint not_sent_means_no_doubt check (state not in ('skipped', 'cancelled', 'review') or doubt = 0),
    constraint intent_before_effect check (state <> 'sending' or (message is not null and begun_at is not null)),
    constraint doubt_is_about_attempts check (doubt between 0 and number)
) strict;

create index duebook_notifications_wake on duebook_notifications (channel, priority, wake_at)
    where wake_at is not null and not alone;
create index duebook_notifications_suspect on duebook_notifications (channel, wake_at) where wake_at is not null and alone;
create index duebook_notifications_lease on duebook_notifications (lease_until) where lease_until is not null;
create index duebook_notifications_attention on duebook_notifications (state, attention_at) where attention_at is not null;
create index duebook_notifications_closed on duebook_notifications (kind, pruned, closed_at) where closed_at is not null;
create index duebook_notifications_expiry on duebook_notifications (expires_at)
    where expires_at is not null and wake_at is not null;
create index duebook_notifications_group on duebook_notifications (group_key) where group_key is not null and closed_at is null;

create table duebook_identities (
    kind text not null,
    key text not null,
    notification_id integer not null,
    recipient text not null,
    state text,
    reason text,
    due_at text not null,
    created_at text not null,
    closed_at text,
    provider_id text,
    primary key (kind, key)
) strict;

create index duebook_identities_recipient on duebook_identities (recipient, notification_id);
create index duebook_identities_closed on duebook_identities (kind, closed_at) where closed_at is not null;

create table duebook_attempts (
    notification_id integer not null,
    number integer not null check (number > 0),
    channel text not null,
    begun_at text not null,
    ended_at text not null,
    holder text not null,
    outcome text not null check (outcome in ('accepted', 'rejected', 'retry', 'throttled', 'uncertain', 'lost')),
    reason text,
    phase text,
    provider_id text,
    message_hash text,
    message text,
    resolution text check (resolution in ('accepted', 'not_accepted', 'rejected')),
    resolved_at text,
    primary key (notification_id, number)
) strict;

create table duebook_history (
    notification_id integer not null,
    version integer not null,
    at text not null,
    by text not null,
    event text not null,
    state text not null,
    next text not null,
    reason text,
    primary key (notification_id, version)
) strict;

create table duebook_evidence (
    notification_id integer not null,
    number integer not null,
    source text not null,
    says text not null check (says in ('accepted', 'not_accepted', 'rejected', 'unknown')),
    at text not null,
    provider_id text,
    detail text,
    considered_at text,
    primary key (notification_id, number, source, says)
) strict;

create index duebook_evidence_new on duebook_evidence (notification_id) where considered_at is null;

create table duebook_controls (
    scope text primary key,
    paused_at text,
    paused_until text,
    mode text check (mode in ('live', 'shadow', 'off')),
    rate_next integer,
    rate_granted integer,
    reason text,
    by text not null,
    at text not null
) strict;

create table duebook_kinds (
    kind text primary key,
    channel text not null,
    priority integer not null,
    seen_at text not null
) strict;

create trigger duebook_birth before insert on duebook_notifications for each row
when new.state <> 'scheduled' or new.event <> 'schedule' or new.version <> 1
begin
    select raise(abort, 'duebook: a notification begins as scheduled');
end;

create trigger duebook_lifecycle before update on duebook_notifications for each row
when (
    (old.state, old.event, old.version) is not (new.state, new.event, new.version)
    and (new.version <> old.version + 1 or old.state || ' ' || new.event || ' ' || new.state not in (
        'scheduled claim claimed',
        'scheduled reschedule scheduled',
        'scheduled cancel cancelled',
        'scheduled expire skipped',
        'scheduled confirm accepted',
        'scheduled doubt uncertain',
        'claimed begin sending',
        'claimed skip skipped',
        'claimed defer scheduled',
        'claimed cancel cancelled',
        'claimed reschedule scheduled',
        'claimed reject review',
        'claimed exhaust review',
        'claimed lose scheduled',
        'claimed confirm accepted',
        'claimed doubt uncertain',
        'sending accept accepted',
        'sending reject review',
        'sending retry scheduled',
        'sending throttle scheduled',
        'sending exhaust review',
        'sending time_out uncertain',
        'sending doubt uncertain',
        'sending lose uncertain',
        'uncertain confirm accepted',
        'uncertain disprove review',
        'uncertain repeat scheduled',
        'uncertain assume accepted',
        'uncertain resolve_sent accepted',
        'uncertain resolve_resend scheduled',
        'uncertain resolve_drop dropped',
        'review redrive scheduled',
        'review cancel cancelled',
        'review drop dropped',
        'review confirm accepted',
        'cancelled rearm scheduled'))
    or (old.id, old.kind, old.key) is not (new.id, new.kind, new.key))
begin
    select raise(abort, 'duebook: the lifecycle has no such move; use the verbs of duebook');
end;

create trigger duebook_identity after insert on duebook_notifications for each row
begin
    insert into duebook_identities (kind, key, notification_id, recipient, due_at, created_at)
    values (new.kind, new.key, new.id, new.recipient, new.due_at, new.created_at);
end;
