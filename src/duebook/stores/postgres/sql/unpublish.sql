-- The broker delivered these before their time: it shall be told of them again, by whoever wins the mark.
update duebook.notifications set published_for = null
where id in (select cast(value as bigint) from jsonb_array_elements_text(cast(:ids as jsonb)))
    and wake_at > cast(:now as timestamptz) and published_for = wake_at
