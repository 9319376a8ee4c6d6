-- How much of a notification retention has discarded: 0 nothing, 1 bodies, 2 ledger too.
select pruned from duebook.notifications where id = :id
