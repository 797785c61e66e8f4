-- Generated from api/store/migrations by test/golden/schema.test.ts. Do not edit.

CREATE FUNCTION public.add_to_usage_days() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE public.accounts (
    id text NOT NULL,
    name text NOT NULL,
    plan text DEFAULT 'none'::text NOT NULL,
    payment_method boolean DEFAULT false NOT NULL,
    unpaid_invoice boolean DEFAULT false NOT NULL,
    suspended boolean DEFAULT false NOT NULL,
    spend_cap_micro_usd bigint,
    features text[] DEFAULT '{}'::text[] NOT NULL,
    signing_secret bytea,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT accounts_spend_cap_micro_usd_check CHECK ((spend_cap_micro_usd >= 0))
);

CREATE TABLE public.api_keys (
    id text NOT NULL,
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    name text NOT NULL,
    digest bytea NOT NULL,
    hint text NOT NULL,
    allow_list text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    exposed_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT api_keys_digest_check CHECK ((length(digest) = 32))
);

CREATE TABLE public.audit_log (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    user_id text,
    email text NOT NULL,
    address text NOT NULL,
    account_id text,
    action text NOT NULL,
    target text
);

ALTER TABLE public.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE UNLOGGED TABLE public.direct_reservations (
    request_id text NOT NULL,
    account_id text NOT NULL,
    micro_usd bigint NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    CONSTRAINT direct_reservations_micro_usd_check CHECK ((micro_usd > 0))
);

CREATE TABLE public.file_deletions (
    key text NOT NULL,
    due_at timestamp with time zone NOT NULL,
    again_at timestamp with time zone
);

CREATE TABLE public.idempotency_keys (
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    key text NOT NULL,
    fingerprint bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    lease_until timestamp with time zone NOT NULL,
    status smallint,
    body text
);

CREATE TABLE public.invitations (
    digest bytea NOT NULL,
    email text NOT NULL,
    account_id text,
    role text,
    operator boolean NOT NULL,
    invited_by text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT invitations_check CHECK (((account_id IS NULL) = (role IS NULL))),
    CONSTRAINT invitations_check1 CHECK (((account_id IS NOT NULL) OR operator)),
    CONSTRAINT invitations_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT invitations_email_check CHECK ((email = lower(email))),
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'read_only'::text])))
);

CREATE TABLE public.jobs (
    id text NOT NULL,
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    operation text NOT NULL,
    status text DEFAULT 'queued'::text NOT NULL,
    percent smallint DEFAULT 0 NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    completed_at timestamp with time zone,
    upload_id text,
    input_url bytea,
    input_key text NOT NULL,
    input_etag text,
    input_filename text,
    input_size bigint,
    input_stored boolean NOT NULL,
    options jsonb NOT NULL,
    limits jsonb NOT NULL,
    features jsonb NOT NULL,
    webhook_url text,
    output_target bytea,
    retention_seconds integer NOT NULL,
    metadata json NOT NULL,
    dispatch text,
    output_key text,
    delivery text,
    report json,
    result json,
    error json,
    billed boolean DEFAULT false NOT NULL,
    expires_at timestamp with time zone,
    files_deleted_at timestamp with time zone,
    reserved_micro_usd bigint DEFAULT 0 NOT NULL,
    sealed_webhook_url bytea,
    disruptions smallint DEFAULT 0 NOT NULL,
    traceparent text,
    key_id text,
    CONSTRAINT final_has_end CHECK (((status = ANY (ARRAY['queued'::text, 'processing'::text])) = (completed_at IS NULL))),
    CONSTRAINT jobs_delivery_check CHECK ((delivery = ANY (ARRAY['due'::text, 'done'::text]))),
    CONSTRAINT jobs_percent_check CHECK (((percent >= 0) AND (percent <= 100))),
    CONSTRAINT jobs_reserved_micro_usd_check CHECK ((reserved_micro_usd >= 0)),
    CONSTRAINT jobs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'processing'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text]))),
    CONSTRAINT only_live_success_is_billed CHECK (((NOT billed) OR (livemode AND (status = 'succeeded'::text)))),
    CONSTRAINT other_end_has_error CHECK (((status = ANY (ARRAY['failed'::text, 'canceled'::text])) = (error IS NOT NULL))),
    CONSTRAINT success_has_result CHECK (((status = 'succeeded'::text) = (result IS NOT NULL)))
);

CREATE TABLE public.ledger (
    source_id text NOT NULL,
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    day date NOT NULL,
    operation text NOT NULL,
    kind text,
    meter text NOT NULL,
    quantity numeric NOT NULL,
    amount_micro_usd bigint NOT NULL,
    input_bytes bigint NOT NULL,
    output_bytes bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT ledger_amount_micro_usd_check CHECK ((amount_micro_usd >= 0)),
    CONSTRAINT ledger_quantity_check CHECK ((quantity >= (0)::numeric)),
    CONSTRAINT test_is_unbilled CHECK ((livemode OR (meter = 'unbilled'::text))),
    CONSTRAINT unbilled_is_free CHECK (((meter <> 'unbilled'::text) OR ((quantity = (0)::numeric) AND (amount_micro_usd = 0))))
);

CREATE TABLE public.memberships (
    user_id text NOT NULL,
    account_id text NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'read_only'::text])))
);

CREATE TABLE public.monthly_spend (
    account_id text NOT NULL,
    month date NOT NULL,
    amount_micro_usd bigint DEFAULT 0 NOT NULL,
    images bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.plain_urls_end (
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.presets (
    id text NOT NULL,
    account_id text NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    options json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone NOT NULL,
    oldest_code integer
);

CREATE TABLE public.sign_in_failures (
    subject text NOT NULL,
    at timestamp with time zone NOT NULL,
    id bigint NOT NULL
);

ALTER TABLE public.sign_in_failures ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.sign_in_failures_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.transfers (
    job_id text NOT NULL,
    direction text NOT NULL,
    next_at timestamp with time zone NOT NULL,
    tries smallint DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone,
    done_at timestamp with time zone,
    error json,
    CONSTRAINT transfers_direction_check CHECK ((direction = ANY (ARRAY['fetch'::text, 'deliver'::text])))
);

CREATE TABLE public.upload_allowance (
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    bytes bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.upload_parts (
    upload_id text NOT NULL,
    part_number integer NOT NULL,
    size bigint NOT NULL
);

CREATE TABLE public.uploads (
    id text NOT NULL,
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    size bigint NOT NULL,
    filename text,
    multipart boolean NOT NULL,
    etag text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    uploaded_at timestamp with time zone,
    job_id text,
    kinds text[],
    join_attempt integer DEFAULT 0 NOT NULL,
    join_lease_until timestamp with time zone
);

CREATE TABLE public.usage_days (
    account_id text NOT NULL,
    livemode boolean NOT NULL,
    day date NOT NULL,
    meter text NOT NULL,
    requests bigint NOT NULL,
    quantity numeric NOT NULL,
    amount_micro_usd bigint NOT NULL,
    input_bytes bigint NOT NULL,
    output_bytes bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.user_links (
    digest bytea NOT NULL,
    user_id text NOT NULL,
    purpose text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT user_links_digest_check CHECK ((length(digest) = 32)),
    CONSTRAINT user_links_purpose_check CHECK ((purpose = ANY (ARRAY['password'::text, 'password_and_second_step'::text, 'sign_in'::text])))
);

CREATE TABLE public.user_sessions (
    digest bytea NOT NULL,
    user_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    second_step_due boolean NOT NULL,
    address text NOT NULL,
    agent text NOT NULL,
    notice bytea,
    generation integer DEFAULT 0 NOT NULL,
    totp_pending bytea,
    CONSTRAINT user_sessions_digest_check CHECK ((length(digest) = 32))
);

CREATE TABLE public.users (
    id text NOT NULL,
    email text NOT NULL,
    password text,
    operator boolean DEFAULT false NOT NULL,
    totp_secret bytea,
    totp_step bigint,
    identity text,
    created_at timestamp with time zone NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    CONSTRAINT users_email_check CHECK ((email = lower(email)))
);

CREATE TABLE public.webhook_attempts (
    event_id text NOT NULL,
    at timestamp with time zone NOT NULL,
    status smallint,
    error text,
    duration_ms integer NOT NULL
);

CREATE TABLE public.webhook_deliveries (
    id text NOT NULL,
    account_id text NOT NULL,
    job_id text NOT NULL,
    endpoint_id text,
    url text,
    secret bytea NOT NULL,
    body bytea NOT NULL,
    attempt smallint DEFAULT 0 NOT NULL,
    next_at timestamp with time zone NOT NULL,
    lease_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    done_at timestamp with time zone,
    delivered boolean,
    last_status smallint,
    last_error text,
    sealed_url bytea,
    shown_url text
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE public.webhook_endpoints (
    id text NOT NULL,
    account_id text NOT NULL,
    url text,
    enabled boolean DEFAULT true NOT NULL,
    secret bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    sealed_url bytea,
    shown_url text
);

CREATE TABLE public.webhook_pings (
    id text NOT NULL,
    account_id text NOT NULL,
    url text,
    secret bytea NOT NULL,
    livemode boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    taken_at timestamp with time zone,
    done_at timestamp with time zone,
    delivered boolean,
    status smallint,
    duration_ms integer,
    sealed_url bytea,
    CONSTRAINT done_has_outcome CHECK ((((done_at IS NULL) = (delivered IS NULL)) AND ((done_at IS NULL) = (status IS NULL)) AND ((done_at IS NULL) = (duration_ms IS NULL))))
);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_digest_key UNIQUE (digest);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.direct_reservations
    ADD CONSTRAINT direct_reservations_pkey PRIMARY KEY (request_id);

ALTER TABLE ONLY public.file_deletions
    ADD CONSTRAINT file_deletions_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (account_id, livemode, key);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (source_id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (user_id, account_id);

ALTER TABLE ONLY public.monthly_spend
    ADD CONSTRAINT monthly_spend_pkey PRIMARY KEY (account_id, month);

ALTER TABLE ONLY public.presets
    ADD CONSTRAINT presets_account_id_name_key UNIQUE (account_id, name);

ALTER TABLE ONLY public.presets
    ADD CONSTRAINT presets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_pkey PRIMARY KEY (job_id, direction);

ALTER TABLE ONLY public.upload_parts
    ADD CONSTRAINT upload_parts_pkey PRIMARY KEY (upload_id, part_number);

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_pkey PRIMARY KEY (account_id, livemode, day, meter);

ALTER TABLE ONLY public.user_links
    ADD CONSTRAINT user_links_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.user_sessions
    ADD CONSTRAINT user_sessions_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_identity_key UNIQUE (identity);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_job_id_endpoint_id_url_key UNIQUE NULLS NOT DISTINCT (job_id, endpoint_id, url);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_pings
    ADD CONSTRAINT webhook_pings_pkey PRIMARY KEY (id);

CREATE INDEX api_keys_account ON public.api_keys USING btree (account_id, created_at);

CREATE INDEX audit_log_account ON public.audit_log USING btree (account_id, id DESC);

CREATE INDEX direct_reservations_account ON public.direct_reservations USING btree (account_id);

CREATE INDEX file_deletions_due ON public.file_deletions USING btree (due_at);

CREATE INDEX idempotency_keys_age ON public.idempotency_keys USING btree (created_at);

CREATE INDEX invitations_account ON public.invitations USING btree (account_id);

CREATE INDEX invitations_inviter ON public.invitations USING btree (invited_by);

CREATE UNIQUE INDEX invitations_target ON public.invitations USING btree (email, COALESCE(account_id, ''::text));

CREATE INDEX jobs_completed ON public.jobs USING btree (completed_at) WHERE (completed_at IS NOT NULL);

CREATE INDEX jobs_expiry ON public.jobs USING btree (expires_at) WHERE ((files_deleted_at IS NULL) AND (status = 'succeeded'::text));

CREATE INDEX jobs_newest ON public.jobs USING btree (account_id, livemode, created_at DESC, id DESC);

CREATE INDEX jobs_newest_of_operation ON public.jobs USING btree (account_id, livemode, operation, created_at DESC, id DESC);

CREATE INDEX jobs_newest_of_status ON public.jobs USING btree (account_id, livemode, status, created_at DESC, id DESC);

CREATE INDEX jobs_plain_url ON public.jobs USING btree (id) WHERE (webhook_url IS NOT NULL);

CREATE INDEX jobs_unfinished ON public.jobs USING btree (account_id, created_at) WHERE (status = ANY (ARRAY['queued'::text, 'processing'::text]));

CREATE INDEX memberships_account ON public.memberships USING btree (account_id);

CREATE INDEX sign_in_failures_age ON public.sign_in_failures USING btree (at);

CREATE INDEX sign_in_failures_id ON public.sign_in_failures USING btree (id);

CREATE INDEX sign_in_failures_subject ON public.sign_in_failures USING btree (subject, at);

CREATE INDEX transfers_done ON public.transfers USING btree (done_at) WHERE (done_at IS NOT NULL);

CREATE INDEX transfers_due ON public.transfers USING btree (next_at) WHERE (done_at IS NULL);

CREATE INDEX upload_allowance_window ON public.upload_allowance USING btree (account_id, livemode, at);

CREATE INDEX uploads_expiry ON public.uploads USING btree (expires_at) WHERE (job_id IS NULL);

CREATE INDEX user_links_user ON public.user_links USING btree (user_id);

CREATE INDEX user_sessions_expiry ON public.user_sessions USING btree (expires_at);

CREATE INDEX user_sessions_user ON public.user_sessions USING btree (user_id);

CREATE INDEX users_email ON public.users USING btree (email);

CREATE INDEX webhook_attempts_event ON public.webhook_attempts USING btree (event_id, at);

CREATE INDEX webhook_deliveries_done ON public.webhook_deliveries USING btree (done_at) WHERE (done_at IS NOT NULL);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (next_at) WHERE (done_at IS NULL);

CREATE INDEX webhook_deliveries_newest ON public.webhook_deliveries USING btree (created_at, id);

CREATE INDEX webhook_deliveries_plain_url ON public.webhook_deliveries USING btree (id) WHERE (url IS NOT NULL);

CREATE INDEX webhook_endpoints_account ON public.webhook_endpoints USING btree (account_id) WHERE (deleted_at IS NULL);

CREATE INDEX webhook_pings_age ON public.webhook_pings USING btree (created_at);

CREATE INDEX webhook_pings_open ON public.webhook_pings USING btree (account_id, created_at) WHERE (done_at IS NULL);

CREATE INDEX webhook_pings_waiting ON public.webhook_pings USING btree (created_at) WHERE (taken_at IS NULL);

CREATE TRIGGER ledger_adds_to_usage_days AFTER INSERT ON public.ledger REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.add_to_usage_days();

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.monthly_spend
    ADD CONSTRAINT monthly_spend_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.presets
    ADD CONSTRAINT presets_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.transfers
    ADD CONSTRAINT transfers_job_id_fkey FOREIGN KEY (job_id) REFERENCES public.jobs(id);

ALTER TABLE ONLY public.upload_parts
    ADD CONSTRAINT upload_parts_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES public.uploads(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.uploads
    ADD CONSTRAINT uploads_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.user_links
    ADD CONSTRAINT user_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.user_sessions
    ADD CONSTRAINT user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_attempts
    ADD CONSTRAINT webhook_attempts_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.webhook_deliveries(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);

ALTER TABLE ONLY public.webhook_pings
    ADD CONSTRAINT webhook_pings_account_id_fkey FOREIGN KEY (account_id) REFERENCES public.accounts(id);
