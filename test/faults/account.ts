/** An account of one run, whose every request and response is kept: the history that the checks read. */
import { inspect } from 'node:util';
import type { IncomingHttpHeaders } from 'undici/types/header.js';
import { createAccount } from '#api/accounts/create-account.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { errorRow, type ErrorCode } from '#crds/contract/error-codes.ts';
import { newId } from '#crds/contract/ids.ts';
import type { PlanName } from '#crds/catalogue/plans.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';
import { until } from '#test/faults/until.ts';
import type { World } from '#test/faults/world.ts';

type Sending = NonNullable<Parameters<ApiClient>[2]>;

/** Status 0: no response, so the outcome of the request is unknown. */
export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly body: any;
  /** Cause of a missing response. */
  readonly failure?: string;
}

export interface ApiExchange extends Reply {
  /** Milliseconds of the moved clock. */
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | null;
}

export interface FaultAccount {
  readonly id: string;
  readonly key: string;
  readonly plan: PlanName;
  readonly exchanges: readonly ApiExchange[];
  /** Jobs that a scenario made past `call`. */
  readonly madeElsewhere: string[];
  /** Violations in responses so far, one sentence each. */
  readonly violations: string[];
  /** Signing secrets ever shown, newest last: of the account, then of endpoints by id. */
  readonly secrets: Map<string, string[]>;
  /** Path of its webhooks and files at the receiver. */
  readonly path: string;
  readonly url: (name: string) => string;
  /** Never rejects. */
  readonly call: (method: string, path: string, sending?: Sending) => Promise<Reply>;
  readonly close: () => Promise<void>;
}

const NO_RESPONSE: Reply = { status: 0, headers: {}, bytes: Buffer.alloc(0), body: null };

export async function openAccount(world: World, plan: PlanName = 'enterprise'): Promise<FaultAccount> {
  const peppers = [world.canaries.settings.MEDIAJOBS_KEY_PEPPER] as const;
  const deps = { database: world.database(), clock: world.clock, newId, peppers };
  const { id } = await createAccount(deps, {
    caller: MEDIACTL,
    input: {
      name: 'faults',
      plan,
      paymentMethod: true,
      features: ['video', 'heic_output'],
    },
  });
  const { keyText } = await createKey(deps, {
    caller: MEDIACTL,
    input: { accountId: id, mode: 'live', name: 'faults', allowList: [] },
  });
  const key = world.canaries.add('API key', keyText);
  const exchanges: ApiExchange[] = [];
  const violations: string[] = [];
  const secrets = new Map<string, string[]>();
  let client = { baseUrl: '', api: makeApiClient(world.service(), key) };
  const clientNow = (): typeof client => {
    const { baseUrl } = world.service();
    if (client.baseUrl !== baseUrl) client = { baseUrl, api: makeApiClient(world.service(), key) };
    return client;
  };
  const seen = new Map<string, string>();
  const call = async (method: string, path: string, sending: Sending = {}): Promise<Reply> => {
    const sentAt = world.clock.now().getTime();
    const reply = await clientNow()
      .api(method, path, sending)
      .then(({ status, headers, bytes }): Reply => ({ status, headers, bytes, body: jsonOf(headers, bytes) }))
      .catch((error: unknown) => ({
        ...NO_RESPONSE,
        failure: inspect(error, { depth: 1, compact: true }),
      }));
    const answeredAt = world.clock.now().getTime();
    const idempotencyKey = sending.headers?.['idempotency-key'] ?? null;
    exchanges.push({ method, path, idempotencyKey, sentAt, answeredAt, ...reply });
    violations.push(...wrongIn(world, { method, path, reply }), ...changedEnd(seen, reply));
    keepSecret(world, secrets, reply);
    return reply;
  };
  return {
    id,
    key,
    plan,
    exchanges,
    madeElsewhere: [],
    violations,
    secrets,
    path: `/${id}/`,
    url: (name) => `${world.receiver.url}/${id}/${name}`,
    call,
    close: () => client.api.close(),
  };
}

function jsonOf(headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  return String(headers['content-type']).startsWith('application/json') ? JSON.parse(bytes.toString('utf8')) : null;
}

/** Returns violations of complete-errors and no-secret-shown: an incomplete error object, or a secret in a response. */
function wrongIn(world: World, { method, path, reply }: { method: string; path: string; reply: Reply }): string[] {
  const { status, headers, body } = reply;
  if (status < 400) return [];
  const where = `${method} ${path} → ${status}`;
  const found = world.canaries.foundIn(JSON.stringify(body)).map((name) => `${where} shows the ${name}`);
  const error = body?.error as Record<string, unknown> | undefined;
  const code = error?.['code'] as ErrorCode | undefined;
  if (error === undefined || code === undefined) return [...found, `${where} has no error object`];
  const row = errorRow(code);
  const needsRetryAfter = status === 429 || status === 503 || code === 'idempotency_in_progress';
  const wrong = [
    error['type'] === row.type || `the type ${String(error['type'])}`,
    error['request_id'] === headers['svc-request-id'] || 'another request id',
    String(error['doc_url']).endsWith(`#${code}`) || 'another doc_url',
    headers['svc-version'] !== undefined || 'no Svc-Version',
    !needsRetryAfter || Number(headers['retry-after']) > 0 || 'no Retry-After',
  ];
  return [...found, ...wrong.filter((one) => one !== true).map((one) => `${where} has ${one}`)];
}

/** Returns a violation of final-status-is-kept: the job ended with other values before. */
function changedEnd(seen: Map<string, string>, { body }: Reply): string[] {
  if (body?.object !== 'job' || body.completed_at === null) return [];
  const { id, status, error, billed, completed_at, result } = body;
  const end = JSON.stringify({ status, error, billed, completed_at, size: result?.output_size ?? null });
  const before = seen.get(id);
  seen.set(id, before ?? end);
  return before === undefined || before === end ? [] : [`${id} ended with ${before} and later with ${end}`];
}

function keepSecret(world: World, secrets: Map<string, string[]>, { body }: Reply): void {
  if (typeof body?.secret !== 'string') return;
  const owner = String(body.id ?? 'account');
  const known = secrets.get(owner) ?? [];
  if (known.at(-1) !== body.secret) secrets.set(owner, [...known, world.canaries.add('webhook secret', body.secret)]);
}

export const CSV = Buffer.from('id,name\n0010,Ada\n0011,Grace\n');
/** Rows of `CSV` in JSON output. */
export const ROWS: readonly object[] = [
  { id: '0010', name: 'Ada' },
  { id: '0011', name: 'Grace' },
];
export const TO_JSON = { operation: 'convert', options: { convert: { to: 'json' } } } as const;

/** Creates an upload and sends its content; returns its id. @throws Error after a minute without success */
export async function upload(account: FaultAccount, bytes: Buffer = CSV, filename = 'people.csv'): Promise<string> {
  const sent = await until('an upload succeeds', async () => {
    const made = await account.call('POST', '/v1/uploads', { json: { size: bytes.length, filename } });
    if (made.status !== 201) return null;
    const put = await account.call('PUT', String(made.body.url), { body: bytes });
    return put.status === 200 ? String(made.body.id) : null;
  });
  return sent;
}

/** Creates a job that converts a table to JSON, unless the fields say otherwise; returns the response. */
export function postJob(account: FaultAccount, fields: Record<string, unknown>): Promise<Reply> {
  return account.call('POST', '/v1/jobs', { json: { ...TO_JSON, ...fields } });
}

/** Creates a job that converts a small table to JSON; returns its id. @throws Error when it is refused */
export async function createJob(account: FaultAccount, fields: Record<string, unknown> = {}): Promise<string> {
  const input = fields['input'] ?? { upload: await upload(account) };
  const made = await postJob(account, { ...fields, input });
  if (made.status !== 202) throw new Error(`the response to a job is ${made.status} ${JSON.stringify(made.body)}`);
  return String(made.body.id);
}

/** Returns the number of its unfinished jobs. */
export async function countUnfinished(world: World, { id }: FaultAccount): Promise<number> {
  const unfinished = `select 1 from jobs where account_id = $1 and status in ('queued', 'processing')`;
  return (await world.query(unfinished, [id])).length;
}

const FINAL: readonly unknown[] = ['succeeded', 'failed', 'canceled'];

/** Returns the finished job. @throws Error after that time */
export function ended(account: FaultAccount, id: string, seconds = 90): Promise<any> {
  return until(
    `${id} ends`,
    async () => {
      const { status, body } = await account.call('GET', `/v1/jobs/${id}`);
      return status === 200 && FINAL.includes(body.status) ? body : null;
    },
    { seconds, everyMs: 150 },
  );
}

export function direct(account: FaultAccount, bytes: Buffer | string = CSV): Promise<Reply> {
  return account.call('POST', '/v1/convert?to=json&filename=people.csv', { body: bytes });
}
