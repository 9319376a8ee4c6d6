-- When those of the ids a broker delivered are due that came a little early.
select id, wake_at from duebook.notifications
where id in (select cast(value as bigint) from jsonb_array_elements_text(cast(:ids as jsonb)))
    and wake_at > cast(:after as timestamptz) and wake_at <= cast(:until as timestamptz)
