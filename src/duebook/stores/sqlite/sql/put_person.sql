-- Note where and how a person wants to be reached.
insert into duebook_people (
    recipient, zone, locale, addresses, preferred, quiet_from, quiet_until, changed_at, changed_by)
values (:recipient, :zone, :locale, :addresses, :preferred, :quiet_from, :quiet_until, :now, :by)
on conflict (recipient) do update set
    zone = excluded.zone, locale = excluded.locale, addresses = excluded.addresses, preferred = excluded.preferred,
    quiet_from = excluded.quiet_from, quiet_until = excluded.quiet_until, changed_at = excluded.changed_at,
    changed_by = excluded.changed_by
returning recipient
