-- Accounts, keys, uploads, jobs, ledger, webhooks. Money is whole micro-dollars; times are UTC.
-- Life cycles are drawn where the code keeps them: api/jobs/job.ts, api/uploads/upload.ts,
-- api/transfers/transfer-rows.ts, api/webhooks/webhook-delivery-rows.ts.

create table accounts (
  id text primary key,
  name text not null,
  plan text not null default 'none',
  payment_method boolean not null default false,
  unpaid_invoice boolean not null default false,
  suspended boolean not null default false,
  spend_cap_micro_usd bigint check (spend_cap_micro_usd >= 0), -- null: the plan's default
  features text[] not null default '{}',
  signing_secret bytea,                     -- encrypted; made on first need
  created_at timestamptz not null
);

create table api_keys (
  id text primary key,
  account_id text not null references accounts,
  livemode boolean not null,
  name text not null,
  digest bytea not null unique check (length(digest) = 32), -- HMAC-SHA256 of the whole key
  hint text not null,                       -- prefix and last four characters
  allow_list text[] not null default '{}',  -- CIDRs
  created_at timestamptz not null,
  last_used_at timestamptz,
  exposed_at timestamptz,                   -- first time it came over plain http
  revoked_at timestamptz
);
create index api_keys_account on api_keys (account_id, created_at);

create table uploads (
  id text primary key,
  account_id text not null references accounts,
  livemode boolean not null,
  size bigint not null,                     -- as declared; after content, as received
  filename text,
  multipart boolean not null,
  etag text,                                -- of the content, its quoted SHA-256; null until it is there
  created_at timestamptz not null,
  expires_at timestamptz not null,
  uploaded_at timestamptz,
  job_id text                               -- the first job that names it
);
create index uploads_expiry on uploads (expires_at) where job_id is null;

create table upload_parts (
  upload_id text not null references uploads on delete cascade,
  part_number integer not null,
  size bigint not null,
  primary key (upload_id, part_number)
);

-- Declared bytes of every upload of the last 24 hours, used or not; outlives the upload.
create table upload_allowance (
  account_id text not null,
  livemode boolean not null,
  bytes bigint not null,
  at timestamptz not null
);
create index upload_allowance_window on upload_allowance (account_id, livemode, at);

create table jobs (
  id text primary key,
  account_id text not null references accounts,
  livemode boolean not null,
  operation text not null,
  status text not null default 'queued'
    check (status in ('queued', 'processing', 'succeeded', 'failed', 'canceled')),
  percent smallint not null default 0 check (percent between 0 and 100),
  attempt smallint not null default 0,      -- the highest one that started; fences every report
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,

  upload_id text,
  input_url bytea,                          -- encrypted
  input_key text not null,                  -- object that holds the input
  input_etag text,                          -- of the upload when the job was made, or of the fetched input
  input_filename text,
  input_size bigint,
  input_stored boolean not null,            -- false until the courier has stored input.url

  options jsonb not null,                   -- resolved
  limits jsonb not null,
  features jsonb not null,
  webhook_url text,
  output_target bytea,                      -- encrypted {url, headers}; null: the output stays here
  retention_seconds integer not null,
  metadata json not null,

  dispatch text,                            -- nonce of the newest MediaJob; names its output keys, fences older ones
  output_key text,                          -- object that holds the output
  delivery text check (delivery in ('due', 'done')), -- of output_target: due once the work is done
  report json,                              -- the worker's report, from its end on
  result json,                              -- as shown, without the links
  error json,
  billed boolean not null default false,
  expires_at timestamptz,
  files_deleted_at timestamptz,
  reserved_micro_usd bigint not null default 0 check (reserved_micro_usd >= 0), -- most that it can cost while unfinished

  constraint final_has_end check ((status in ('queued', 'processing')) = (completed_at is null)),
  constraint success_has_result check ((status = 'succeeded') = (result is not null)),
  constraint other_end_has_error check ((status in ('failed', 'canceled')) = (error is not null)),
  constraint only_live_success_is_billed check (not billed or (livemode and status = 'succeeded'))
);
create index jobs_newest on jobs (account_id, livemode, created_at desc, id desc);
create index jobs_unfinished on jobs (account_id, created_at) where status in ('queued', 'processing');
create index jobs_expiry on jobs (expires_at) where files_deleted_at is null and status = 'succeeded';

-- Work of the courier for jobs: input.url to fetch, output.url to deliver to.
create table transfers (
  job_id text not null references jobs,
  direction text not null check (direction in ('fetch', 'deliver')),
  next_at timestamptz not null,
  tries smallint not null default 0,
  lease_until timestamptz,
  done_at timestamptz,
  error json,                              -- {code, message} of a transfer that failed for good
  primary key (job_id, direction)
);
create index transfers_due on transfers (next_at) where done_at is null;

create table idempotency_keys (
  account_id text not null,
  livemode boolean not null,
  key text not null,
  fingerprint bytea not null,               -- SHA-256 of the raw body
  created_at timestamptz not null,
  lease_until timestamptz not null,         -- until then the first request is being handled
  status smallint,                          -- null until the answer is stored
  body text,
  primary key (account_id, livemode, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- One row per counted piece of work: a direct request or a finished job.
create table ledger (
  source_id text primary key,               -- req_… or job_…
  account_id text not null,
  livemode boolean not null,
  day date not null,
  operation text not null,
  kind text,
  meter text not null,                      -- 'unbilled' when free
  quantity numeric not null check (quantity >= 0),
  amount_micro_usd bigint not null check (amount_micro_usd >= 0),
  input_bytes bigint not null,
  output_bytes bigint not null,
  at timestamptz not null,

  constraint unbilled_is_free check (meter <> 'unbilled' or (quantity = 0 and amount_micro_usd = 0)),
  constraint test_is_unbilled check (livemode or meter = 'unbilled')
);
create index ledger_usage on ledger (account_id, livemode, day, meter);

-- What an account has spent in a month: kept in the ledger's transactions, read at each gate.
create table monthly_spend (
  account_id text not null references accounts,
  month date not null,
  amount_micro_usd bigint not null default 0,
  images bigint not null default 0,
  primary key (account_id, month)
);

-- Objects to delete from the file store, once due. A key that ends in / stands for all below it.
create table file_deletions (
  key text primary key,
  due_at timestamptz not null
);
create index file_deletions_due on file_deletions (due_at);

create table webhook_endpoints (
  id text primary key,
  account_id text not null references accounts,
  url text not null,
  enabled boolean not null default true,
  secret bytea not null,                    -- encrypted
  created_at timestamptz not null,
  deleted_at timestamptz
);
create index webhook_endpoints_account on webhook_endpoints (account_id) where deleted_at is null;

-- One row per event and destination. Hot rows are few: those with done_at null.
create table webhook_deliveries (
  id text primary key,                      -- the event's id, evt_…
  account_id text not null references accounts,
  job_id text not null,
  endpoint_id text,                         -- null: the job's webhook_url
  url text not null,
  secret bytea not null,                    -- encrypted; as it was when the job finished
  body bytea not null,                      -- exactly as sent, at every attempt
  attempt smallint not null default 0,      -- attempts begun
  next_at timestamptz not null,
  lease_until timestamptz,
  created_at timestamptz not null,
  done_at timestamptz,
  delivered boolean,                        -- null until done
  last_status smallint,
  last_error text,
  unique nulls not distinct (job_id, endpoint_id, url)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index webhook_deliveries_due on webhook_deliveries (next_at) where done_at is null;
