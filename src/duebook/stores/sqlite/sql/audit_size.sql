-- About how many records an audit reads, for its progress bar: the highest row of each table, which is known at once.
select 2 * coalesce((select max(id) from duebook_notifications), 0)
    + coalesce((select max(rowid) from duebook_identities), 0)
