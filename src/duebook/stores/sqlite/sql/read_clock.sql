-- The database's own time: the only statement that asks for it.
select strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
