-- Write to an address again.
delete from duebook_suppressions
where channel = :channel and address = :address and (:scope is null or scope = :scope)
returning scope
