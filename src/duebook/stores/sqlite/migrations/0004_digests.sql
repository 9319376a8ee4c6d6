-- Digests: what is to be told together, what each digest froze, and how far each recipient's periods are closed.

create table duebook_digest_items (
    kind text not null,
    recipient text not null,
    item text not null,
    ready_at text not null,
    score real not null,
    data text not null check (json_valid(data)),
    expires_at text,
    added_at text not null,
    label text,
    outcome text check (outcome in ('dropped', 'expired', 'read', 'undelivered')),
    primary key (kind, recipient, item),
    constraint only_a_selected_one_is_undelivered check (outcome is not 'undelivered' or label is not null)
) strict;

create index duebook_digest_items_ready on duebook_digest_items (kind, recipient, ready_at);
create index duebook_digest_items_added on duebook_digest_items (kind, added_at);

create table duebook_digest_cursors (
    kind text not null,
    recipient text not null,
    tenant text,
    namespace text not null,
    zone text not null,
    open_from text,
    closed_to text,
    next_close_at text,
    primary key (kind, recipient)
) strict;

create index duebook_digest_cursors_close on duebook_digest_cursors (next_close_at) where next_close_at is not null;

create table duebook_digests (
    kind text not null,
    recipient text not null,
    label text not null,
    notification_id integer not null,
    first_label text not null,
    periods integer not null check (periods > 0),
    cutoff_at text not null,
    open_from text not null,
    total integer not null check (total >= selected),
    selected integer not null check (selected > 0),
    late integer not null check (late between 0 and selected),
    closed_at text not null,
    unsent text not null check (unsent in ('carry', 'undelivered')),
    outcome text check (outcome in ('released', 'undelivered')),
    primary key (kind, recipient, label)
) strict;

create index duebook_digests_notification on duebook_digests (notification_id);
create index duebook_digests_outcome on duebook_digests (kind, outcome) where outcome is not null;
