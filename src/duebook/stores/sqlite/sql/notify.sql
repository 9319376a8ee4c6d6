-- Wake idle lanes of a channel. Differs because SQLite has no notifications: lanes of this process are woken directly.
select :channel
