-- Those of the kinds that neither are paused nor go by a channel that is or that rests.
kinds as materialized (
    select k.value as kind
    from json_each(:kinds) as k
    where not exists (
        select 1 from duebook_controls c where c.scope = 'kind:' || k.value and c.paused_at is not null)
        and not exists (
            select 1 from duebook_controls c
            where c.scope in ('everything', 'channel:' || :channel)
                and (c.paused_at is not null or c.paused_until > :now))
)
