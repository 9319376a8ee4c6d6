-- Erase a person from the deadlines; that there were some stays, so that a new one has a new term.
update duebook.deadlines set recipient = :alias, data = '{}', state = 'completed', reason = 'erased'
where recipient = :recipient
returning key
