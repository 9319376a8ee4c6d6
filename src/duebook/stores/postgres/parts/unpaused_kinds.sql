-- Those of the kinds that neither are paused nor go by a channel that is or that rests.
kinds as (
    select array_agg(k.kind) as known
    from jsonb_array_elements_text(cast(:kinds as jsonb)) as k(kind)
    where not exists (
        select 1 from duebook.controls c where c.scope = 'kind:' || k.kind and c.paused_at is not null)
        and not exists (
            select 1 from duebook.controls c
            where c.scope in ('everything', 'channel:' || :channel)
                and (c.paused_at is not null or c.paused_until > cast(:now as timestamptz)))
)
