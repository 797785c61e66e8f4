-- The people of the dashboard, their sessions and one-time links, who changed what; each attempt of a webhook.

create table users (
  id text primary key,
  email text not null unique check (email = lower(email)),
  password text,                            -- argon2id as a PHC string; null: none was set
  operator boolean not null default false,  -- of the installation
  totp_secret bytea,                        -- encrypted; null: no second step
  totp_step bigint,                         -- 30-second step of the last code that was taken; null: not confirmed yet
  identity text unique,                     -- issuer and subject at the identity provider, from the first such sign-in on
  created_at timestamptz not null
);

create table memberships (
  user_id text not null references users on delete cascade,
  account_id text not null references accounts,
  role text not null check (role in ('owner', 'developer', 'read_only')),
  created_at timestamptz not null,
  primary key (user_id, account_id)
);
create index memberships_account on memberships (account_id);

-- Invitations, resets and sign-ins by a link. A used one is gone.
create table user_links (
  digest bytea primary key check (length(digest) = 32), -- SHA-256 of the link's token
  user_id text not null references users on delete cascade,
  purpose text not null check (purpose in ('password', 'sign_in')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index user_links_user on user_links (user_id);

create table user_sessions (
  digest bytea primary key check (length(digest) = 32), -- SHA-256 of the cookie's token
  user_id text not null references users on delete cascade,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  second_step_due boolean not null,         -- the password was right, the code is still to come
  address text not null,
  agent text not null,
  notice bytea                              -- encrypted; what the next page shows once
);
create index user_sessions_user on user_sessions (user_id);
create index user_sessions_expiry on user_sessions (expires_at);

-- Failed sign-ins of the last minutes, by what they are counted on.
create table sign_in_failures (
  subject text not null,
  at timestamptz not null
);
create index sign_in_failures_subject on sign_in_failures (subject, at);
create index sign_in_failures_age on sign_in_failures (at);

-- Every change that was made in the dashboard. Outlives the user and the account that it names.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  user_id text,                             -- null: nobody was signed in
  email text not null,
  address text not null,
  account_id text,                          -- null: not about one account
  action text not null,
  target text                               -- id or name of what was changed
);
create index audit_log_account on audit_log (account_id, id desc);

-- The attempts behind a delivery, those before it was sent again too.
create table webhook_attempts (
  event_id text not null references webhook_deliveries on delete cascade,
  at timestamptz not null,
  status smallint,                          -- null: no answer came
  error text,                               -- null: delivered
  duration_ms integer not null
);
create index webhook_attempts_event on webhook_attempts (event_id, at);
