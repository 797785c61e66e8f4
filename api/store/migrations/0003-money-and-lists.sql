-- Usage by day, kept beside the ledger; what direct requests in work may cost; lists of jobs by status or operation.

-- The ledger summed by day and meter: usage over a year reads some thousand rows instead of millions.
create table usage_days (
  account_id text not null,
  livemode boolean not null,
  day date not null,
  meter text not null,
  requests bigint not null,
  quantity numeric not null,
  amount_micro_usd bigint not null,
  input_bytes bigint not null,
  output_bytes bigint not null,
  primary key (account_id, livemode, day, meter)
) with (fillfactor = 50);

-- Whatever enters the ledger is in the sums from the same transaction on; nothing leaves it or changes.
create function add_to_usage_days() returns trigger language plpgsql as $$
begin
  insert into usage_days as total
    (account_id, livemode, day, meter, requests, quantity, amount_micro_usd, input_bytes, output_bytes)
  select account_id, livemode, day, meter, count(*), sum(quantity), sum(amount_micro_usd), sum(input_bytes),
    sum(output_bytes)
  from added group by account_id, livemode, day, meter order by account_id, livemode, day, meter
  on conflict (account_id, livemode, day, meter) do update set
    requests = total.requests + excluded.requests,
    quantity = total.quantity + excluded.quantity,
    amount_micro_usd = total.amount_micro_usd + excluded.amount_micro_usd,
    input_bytes = total.input_bytes + excluded.input_bytes,
    output_bytes = total.output_bytes + excluded.output_bytes;
  return null;
end $$;
create trigger ledger_adds_to_usage_days after insert on ledger
  referencing new table as added for each statement execute function add_to_usage_days();

insert into usage_days
select account_id, livemode, day, meter, count(*), sum(quantity), sum(amount_micro_usd), sum(input_bytes),
  sum(output_bytes)
from ledger group by account_id, livemode, day, meter;
drop index ledger_usage;

-- What live direct requests in work may cost. Its life: api/billing/direct-reservation-rows.ts. Not logged: after
-- a crash of PostgreSQL the requests of before are charged as they end, and no reservation is left behind.
create unlogged table direct_reservations (
  request_id text primary key,
  account_id text not null,
  micro_usd bigint not null check (micro_usd > 0),
  lease_until timestamptz not null          -- renewed while the request is in work
);
create index direct_reservations_account on direct_reservations (account_id);

-- A list by status or operation reads its own page only, also when nothing of that kind is there.
create index jobs_newest_of_status on jobs (account_id, livemode, status, created_at desc, id desc);
create index jobs_newest_of_operation on jobs (account_id, livemode, operation, created_at desc, id desc);
-- By which records are forgotten, 30 days after their end.
create index jobs_completed on jobs (completed_at) where completed_at is not null;
