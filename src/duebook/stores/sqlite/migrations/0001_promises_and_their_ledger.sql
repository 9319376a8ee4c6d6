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
    review_at text,
    closed_at text,
    holder text,
    alone integer not null default 0 check (alone in (0, 1)),
    number integer not null default 0,
    budget_used integer not null default 0,
    age_from text,
    doubt integer not null default 0,
    permit text check (permit in ('key', 'ruled')),
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
    constraint each_state_has_its_instants check (
        case state
            when 'scheduled' then wake_at is not null and coalesce(lease_until, attention_at, review_at, closed_at) is null
            when 'claimed' then lease_until is not null and coalesce(wake_at, attention_at, review_at, closed_at) is null
            when 'sending' then lease_until is not null and coalesce(wake_at, attention_at, review_at, closed_at) is null
            when 'uncertain' then attention_at is not null and coalesce(wake_at, lease_until, review_at, closed_at) is null
            when 'review' then review_at is not null and coalesce(wake_at, lease_until, attention_at, closed_at) is null
            when 'accepted' then closed_at is not null and coalesce(wake_at, lease_until, attention_at, review_at) is null
            when 'skipped' then closed_at is not null and coalesce(wake_at, lease_until, attention_at, review_at) is null
            when 'cancelled' then closed_at is not null and coalesce(wake_at, lease_until, attention_at, review_at) is null
            when 'dropped' then closed_at is not null and coalesce(wake_at, lease_until, attention_at, review_at) is null
            else false
        end),
    constraint each_state_has_its_grounds check (
        case state
            when 'claimed' then holder is not null
            when 'sending' then holder is not null and message is not null and begun_at is not null
            when 'review' then reason is not null and doubt = 0
            when 'accepted' then basis is not null
            when 'skipped' then reason is not null and doubt = 0
            when 'cancelled' then reason is not null and doubt = 0
            when 'dropped' then reason is not null
            else true
        end),
    constraint only_an_accepted_one_has_a_basis check (basis is null or state = 'accepted'),
    constraint doubt_is_about_attempts check (doubt between 0 and number)
) strict;

create index duebook_notifications_wake on duebook_notifications (channel, priority, wake_at)
    where wake_at is not null and not alone;
create index duebook_notifications_suspect on duebook_notifications (channel, wake_at) where wake_at is not null and alone;
create index duebook_notifications_lease on duebook_notifications (lease_until) where lease_until is not null;
create index duebook_notifications_attention on duebook_notifications (attention_at) where attention_at is not null;
create index duebook_notifications_review on duebook_notifications (review_at) where review_at is not null;
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
    or exists (select 1 from duebook_notifications where id = new.id)
begin
    select raise(abort, 'duebook: a notification begins as scheduled');
end;

create trigger duebook_lifecycle before update on duebook_notifications for each row
when (
    (old.state, old.event, old.version) is not (new.state, new.event, new.version)
    and (new.version <> old.version + 1 or case old.state || ' ' || new.event || ' ' || new.state
            when 'scheduled claim claimed' then false
            when 'scheduled reschedule scheduled' then false
            when 'scheduled cancel cancelled' then false
            when 'scheduled expire skipped' then false
            when 'scheduled confirm accepted' then false
            when 'scheduled doubt uncertain' then false
            when 'claimed begin sending' then false
            when 'claimed skip skipped' then false
            when 'claimed defer scheduled' then false
            when 'claimed cancel cancelled' then false
            when 'claimed reschedule scheduled' then false
            when 'claimed reject review' then false
            when 'claimed exhaust review' then false
            when 'claimed lose scheduled' then false
            when 'claimed confirm accepted' then false
            when 'claimed doubt uncertain' then false
            when 'sending accept accepted' then false
            when 'sending reject review' then false
            when 'sending retry scheduled' then false
            when 'sending throttle scheduled' then false
            when 'sending exhaust review' then false
            when 'sending time_out uncertain' then false
            when 'sending doubt uncertain' then false
            when 'sending lose uncertain' then false
            when 'uncertain confirm accepted' then false
            when 'uncertain disprove review' then false
            when 'uncertain repeat scheduled' then false
            when 'uncertain assume accepted' then false
            when 'uncertain resolve_sent accepted' then false
            when 'uncertain resolve_resend scheduled' then false
            when 'uncertain resolve_drop dropped' then false
            when 'review redrive scheduled' then false
            when 'review cancel cancelled' then false
            when 'review drop dropped' then false
            when 'review confirm accepted' then false
            when 'cancelled rearm scheduled' then false
            else true
        end)
    or (old.id, old.kind, old.key) is not (new.id, new.kind, new.key))
begin
    select raise(abort, 'duebook: the lifecycle has no such move; use the verbs of duebook');
end;

create trigger duebook_identity after insert on duebook_notifications for each row
begin
    insert into duebook_identities (kind, key, notification_id, recipient, due_at, created_at)
    values (new.kind, new.key, new.id, new.recipient, new.due_at, new.created_at);
end;
