-- Take a block of a channel's shared send rate (a generic cell rate algorithm on one row); answers how many it got.
insert into duebook.controls as c (scope, rate_next, rate_granted, by, at)
values (
    'channel:' || :channel, :now_micros + :interval_micros * least(:wanted, :burst_micros / :interval_micros),
    least(:wanted, :burst_micros / :interval_micros), :by, cast(:now as timestamptz))
on conflict (scope) do update set
    rate_granted = greatest(0, least(:wanted,
        (:now_micros + :burst_micros - greatest(coalesce(c.rate_next, 0), :now_micros)) / :interval_micros)),
    rate_next = greatest(coalesce(c.rate_next, 0), :now_micros) + :interval_micros * greatest(0, least(:wanted,
        (:now_micros + :burst_micros - greatest(coalesce(c.rate_next, 0), :now_micros)) / :interval_micros))
returning rate_granted, rate_next
