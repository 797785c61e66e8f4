-- A membership begins when the invitation for it is accepted. Several people may have set up a login for one address,
-- each with a link that only that person held, so an address alone names nobody. Sessions end with the password.

create table invitations (
  digest bytea primary key check (length(digest) = 32), -- SHA-256 of the link's token
  email text not null check (email = lower(email)),
  account_id text references accounts,      -- null: for the installation only
  role text check (role in ('owner', 'developer', 'read_only')),
  operator boolean not null,                -- makes the person an operator of the installation
  invited_by text references users on delete cascade, -- null: mediactl
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((account_id is null) = (role is null)),
  check (account_id is not null or operator)
);
create unique index invitations_target on invitations (email, coalesce(account_id, ''));
create index invitations_account on invitations (account_id);
create index invitations_inviter on invitations (invited_by);

-- Memberships were added without a word of the invited person. Those of people who were never in are withdrawn.
delete from users where password is null and identity is null
  and not exists (select from audit_log where audit_log.user_id = users.id and action like 'sign_in.%');

alter table users drop constraint users_email_key;
create index users_email on users (email);

-- Counts changes of password and second step. A session holds the number that its sign-in was checked against.
alter table users add column generation integer not null default 0;
alter table user_sessions add column generation integer not null default 0;
alter table user_sessions add column totp_pending bytea; -- encrypted; a second step that this session sets up

-- A reset that switches the second step off does so when its link is used, not before.
alter table user_links drop constraint user_links_purpose_check;
alter table user_links add constraint user_links_purpose_check
  check (purpose in ('password', 'password_and_second_step', 'sign_in'));

-- A second step that was set up and never confirmed.
update users set totp_secret = null where totp_step is null;

-- Names one try, so that a right one takes back itself and no other of the same moment.
alter table sign_in_failures add column id bigint generated always as identity;
create index sign_in_failures_id on sign_in_failures (id);
