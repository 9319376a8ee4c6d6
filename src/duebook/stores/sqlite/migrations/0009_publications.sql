-- What a broker was told of a notification. Both are null for good where no broker is used.

alter table duebook_notifications add column published_for text;

alter table duebook_notifications add column publish_until text;
