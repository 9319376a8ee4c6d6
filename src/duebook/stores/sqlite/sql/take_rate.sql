-- Take a block of a channel's shared send rate (a generic cell rate algorithm on one row); answers how many it got.
insert into duebook_controls as c (scope, rate_next, rate_granted, by, at)
values (
    'channel:' || :channel, :now_micros + :interval_micros * min(:wanted, :burst_micros / :interval_micros),
    min(:wanted, :burst_micros / :interval_micros), :by, :now)
on conflict (scope) do update set
    rate_granted = max(0, min(:wanted,
        (:now_micros + :burst_micros - max(coalesce(c.rate_next, 0), :now_micros)) / :interval_micros)),
    rate_next = max(coalesce(c.rate_next, 0), :now_micros) + :interval_micros * max(0, min(:wanted,
        (:now_micros + :burst_micros - max(coalesce(c.rate_next, 0), :now_micros)) / :interval_micros))
returning rate_granted, rate_next
