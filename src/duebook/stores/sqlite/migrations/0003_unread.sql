-- Who has read how far, and which notification speaks for a burst of unread messages.

create table duebook_conversations (
    kind text not null,
    conversation text not null,
    last_position integer not null check (last_position > 0),
    primary key (kind, conversation)
) strict;

create table duebook_messages (
    kind text not null,
    conversation text not null,
    position integer not null check (position > 0),
    message text not null,
    author text not null,
    posted_at text not null,
    deleted_at text,
    primary key (kind, conversation, position),
    unique (kind, conversation, message)
) strict;

create index duebook_messages_posted on duebook_messages (kind, posted_at);

create table duebook_watermarks (
    kind text not null,
    conversation text not null,
    recipient text not null,
    up_to integer not null default 0 check (up_to >= 0),
    version integer not null default 1,
    cover_id integer,
    covered_to integer not null default 0,
    read_at text,
    read_by text,
    reason text,
    primary key (kind, conversation, recipient)
) strict;

create index duebook_watermarks_recipient on duebook_watermarks (recipient, kind, conversation);

create table duebook_covers (
    notification_id integer primary key,
    kind text not null,
    conversation text not null,
    recipient text not null,
    after_position integer not null,
    to_position integer not null,
    total integer not null check (total >= fresh),
    fresh integer not null check (fresh >= 0),
    begun_at text not null,
    constraint it_covers_forwards check (to_position >= after_position)
) strict;

create index duebook_covers_place on duebook_covers (kind, conversation, recipient, to_position);

-- Reading cancels what is pending up to there. A trigger, so that one statement does both here, too.
create trigger duebook_read after update of up_to on duebook_watermarks for each row
when new.up_to > old.up_to
begin
    insert into duebook_history (notification_id, version, at, by, event, state, next, reason)
    select id, version + 1, new.read_at, new.read_by, case doubt when 0 then 'cancel' else 'doubt' end, state,
        case doubt when 0 then 'cancelled' else 'uncertain' end, new.reason
    from duebook_notifications
    where group_key = 'unread:' || new.kind || ':' || length(new.conversation) || ':' || new.conversation || ':' || new.recipient and closed_at is null
        and state in ('scheduled', 'claimed', 'review') and data ->> 'position' <= new.up_to;
    update duebook_notifications set cancel_request = coalesce(cancel_request, new.reason)
    where group_key = 'unread:' || new.kind || ':' || length(new.conversation) || ':' || new.conversation || ':' || new.recipient and closed_at is null
        and (state in ('sending', 'uncertain') or doubt > 0) and data ->> 'position' <= new.up_to;
    update duebook_notifications set
        state = case doubt when 0 then 'cancelled' else 'uncertain' end,
        event = case doubt when 0 then 'cancel' else 'doubt' end,
        version = version + 1, moved_at = new.read_at, reason = new.reason,
        wake_at = null, lease_until = null, holder = null, review_at = null, alone = 0, permit = case doubt when 0 then permit end,
        closed_at = case doubt when 0 then new.read_at end, attention_at = case when doubt > 0 then new.read_at end,
        wanted = case when doubt > 0 then 'cancelled' end,
        message = case when doubt = 0 and pruned > 0 then null else message end
    where group_key = 'unread:' || new.kind || ':' || length(new.conversation) || ':' || new.conversation || ':' || new.recipient and closed_at is null
        and state in ('scheduled', 'claimed', 'review') and data ->> 'position' <= new.up_to;
end;

create trigger duebook_first_read after insert on duebook_watermarks for each row
when new.up_to > 0
begin
    -- The same as any later reading: from nothing to there.
    update duebook_watermarks set up_to = 0
    where kind = new.kind and conversation = new.conversation and recipient = new.recipient;
    update duebook_watermarks set up_to = new.up_to
    where kind = new.kind and conversation = new.conversation and recipient = new.recipient;
end;

create trigger duebook_posted after insert on duebook_messages for each row
begin
    insert into duebook_conversations (kind, conversation, last_position)
    values (new.kind, new.conversation, new.position)
    on conflict (kind, conversation) do update set last_position = max(last_position, excluded.last_position);
end;
