-- What a broker was told of a notification. Both are null for good where no broker is used.

alter table duebook.notifications
    add column published_for timestamptz,
    add column publish_until timestamptz;
