-- Presets, pings of webhook endpoints, and the indexes by which old deliveries and transfers are found.
-- Life cycles are drawn in api/presets/preset.ts and api/webhooks/webhook-ping-rows.ts.

create table presets (
  id text primary key,
  account_id text not null references accounts,
  name text collate "C" not null,
  options json not null,                    -- exactly as sent
  created_at timestamptz not null,
  updated_at timestamptz not null,          -- when the options were last replaced
  unique (account_id, name)
);

-- Tests of webhook endpoints: the API asks, the courier sends, the API answers what came of it.
create table webhook_pings (
  id text primary key,                      -- the event's id, evt_…
  account_id text not null references accounts,
  url text not null,
  secret bytea not null,                    -- encrypted
  livemode boolean not null,                -- of the key that asked
  created_at timestamptz not null,
  taken_at timestamptz,                     -- by a courier, once; never given back
  done_at timestamptz,
  delivered boolean,
  status smallint,                          -- 0: no answer came
  duration_ms integer,

  constraint done_has_outcome
    check ((done_at is null) = (delivered is null) and (done_at is null) = (status is null) and (done_at is null) = (duration_ms is null))
);
create index webhook_pings_waiting on webhook_pings (created_at) where taken_at is null;
create index webhook_pings_open on webhook_pings (account_id, created_at) where done_at is null;
create index webhook_pings_age on webhook_pings (created_at);

create index webhook_deliveries_newest on webhook_deliveries (created_at, id);
create index webhook_deliveries_done on webhook_deliveries (done_at) where done_at is not null;
create index transfers_done on transfers (done_at) where done_at is not null;
