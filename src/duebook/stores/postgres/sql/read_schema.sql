-- Which migrations this database has seen.
select max(version) from duebook.migrations
