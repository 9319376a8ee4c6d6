-- The database's own time: the only statement that asks for it.
select clock_timestamp()
