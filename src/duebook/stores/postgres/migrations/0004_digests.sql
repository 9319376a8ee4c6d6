-- Digests: what is to be told together, what each digest froze, and how far each recipient's periods are closed.

create table duebook.digest_items (
    kind text not null,
    recipient text not null,
    item text not null,
    ready_at timestamptz not null,
    score double precision not null,
    data jsonb not null,
    expires_at timestamptz,
    added_at timestamptz not null,
    label text,
    outcome text check (outcome in ('dropped', 'expired', 'read', 'undelivered')),
    primary key (kind, recipient, item),
    constraint only_a_selected_one_is_undelivered check (outcome is distinct from 'undelivered' or label is not null)
) with (fillfactor = 60);
-- Half empty pages: selecting an item changes no indexed column and stays in its page.

create index digest_items_ready on duebook.digest_items (kind, recipient, ready_at);
create index digest_items_added on duebook.digest_items using brin (added_at);

create table duebook.digest_cursors (
    kind text not null,
    recipient text not null,
    tenant text,
    namespace text not null,
    zone text not null,
    open_from timestamptz,
    closed_to timestamptz,
    next_close_at timestamptz,
    primary key (kind, recipient)
) with (fillfactor = 80);

create index digest_cursors_close on duebook.digest_cursors (next_close_at) where next_close_at is not null;

create table duebook.digests (
    kind text not null,
    recipient text not null,
    label text not null,
    notification_id bigint not null,
    first_label text not null,
    periods integer not null check (periods > 0),
    cutoff_at timestamptz not null,
    open_from timestamptz not null,
    total integer not null check (total >= selected),
    selected integer not null check (selected > 0),
    late integer not null check (late between 0 and selected),
    closed_at timestamptz not null,
    unsent text not null check (unsent in ('carry', 'undelivered')),
    outcome text check (outcome in ('released', 'undelivered')),
    primary key (kind, recipient, label)
);

create index digests_notification on duebook.digests (notification_id);
create index digests_outcome on duebook.digests (kind, outcome) where outcome is not null;
