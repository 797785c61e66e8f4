-- Webhook URLs that callers give are encrypted, since many hold a token: api/webhooks/stored-url.ts.
-- Processes of the version before need the plain ones: rows have both until the time below, a day from now, when the
-- recorder seals and removes what is plain (api/webhooks/seal-plain-urls.ts). A new installation has none to wait for.

create table plain_urls_end (at timestamptz not null);
insert into plain_urls_end
  select case when exists (select from accounts) then now() + interval '1 day' else '-infinity' end;

alter table webhook_endpoints
  alter column url drop not null,           -- plain; null once sealed
  add column sealed_url bytea,              -- encrypted; null: a row of the version before
  add column shown_url text;                -- shortened: host and the begin of the path
alter table webhook_deliveries
  alter column url drop not null,
  add column sealed_url bytea,
  add column shown_url text;
alter table webhook_pings
  alter column url drop not null,
  add column sealed_url bytea;
alter table jobs add column sealed_webhook_url bytea;

-- What is left to seal.
create index webhook_deliveries_plain_url on webhook_deliveries (id) where url is not null;
create index jobs_plain_url on jobs (id) where webhook_url is not null;
