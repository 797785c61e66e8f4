/** Check of a running service from outside: one sample job, through HTTPS, as a caller would create it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import { getCACertificates } from 'node:tls';
import { buffer } from 'node:stream/consumers';
import { selectAccounts } from '#api/accounts/account-rows.ts';
import { createAccount } from '#api/accounts/create-account.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { revokeKey } from '#api/accounts/revoke-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { CommandLineError } from '#api/mediactl/command-line-error.ts';
import type { CommandResult } from '#api/mediactl/format-result.ts';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import { loadSamples, openSample } from '#api/samples/samples.ts';

interface CheckOptions {
  /** host:port to connect to in place of that of the base URL, whose name the certificate still has to have. */
  readonly address?: string;
  /** File of authorities (PEM) that are trusted in addition to the public ones; it may be missing. */
  readonly ca?: string;
}

/** Account of all checks. Test keys cost nothing and process only published samples. */
const ACCOUNT = 'Installation check';
const SAMPLE = 'graphic.png';
const TIMEOUT_SECONDS = 240;
const POLL_MS = 500;
/** Timeout of each request, in milliseconds. */
const TIMEOUT_MS = 30_000;

/**
 * Runs a sample job and returns its id and duration.
 * @throws CommandLineError when the service does not answer as it should, or the job does not succeed in time.
 */
export async function check(service: MediactlService, options: CheckOptions): Promise<CommandResult> {
  if (service.baseUrl === null) throw new CommandLineError('MEDIAJOBS_BASE_URL is not set: it names the service.');
  const account = await accountOfChecks(service);
  const input = { accountId: account, mode: 'test', name: 'mediactl check', allowList: [] } as const;
  const { row, keyText } = await createKey(service, { caller: MEDIACTL, input });
  try {
    const call = await connect({ baseUrl: service.baseUrl, key: keyText }, options);
    return { object: await runJob(call) };
  } finally {
    await revokeKey(service, { caller: MEDIACTL, input: { id: row.id } });
  }
}

async function accountOfChecks(service: MediactlService): Promise<string> {
  const known = (await selectAccounts(service.database)).find(({ name }) => name === ACCOUNT);
  if (known !== undefined) return known.id;
  const input = { name: ACCOUNT, plan: 'none', paymentMethod: false, features: [] } as const;
  return (await createAccount(service, { caller: MEDIACTL, input })).id;
}

type Call = (method: string, path: string, body?: Buffer | object) => Promise<Buffer>;

async function runJob(call: Call) {
  const sample = loadSamples().all.find(({ name }) => name === SAMPLE);
  if (sample === undefined) throw new Error(`the sample ${SAMPLE} is missing`);
  const started = performance.now();
  const upload = await json(call('POST', '/v1/uploads', { size: sample.size, filename: sample.name }));
  await call('PUT', pathOf(upload['url']), await buffer(openSample(sample)));
  let job = await json(call('POST', '/v1/jobs', { operation: 'compress', input: { upload: upload['id'] } }));
  while (job['status'] === 'queued' || job['status'] === 'processing') {
    if (performance.now() - started > TIMEOUT_SECONDS * 1000)
      throw new CommandLineError(`The job ${String(job['id'])} is ${job['status']} after ${TIMEOUT_SECONDS} seconds.`);
    await wait(POLL_MS);
    job = await json(call('GET', `/v1/jobs/${String(job['id'])}`));
  }
  if (job['status'] !== 'succeeded')
    throw new CommandLineError(
      `The job ${String(job['id'])} ${String(job['status'])}: ${JSON.stringify(job['error'])}`,
    );
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  return { job: String(job['id']), status: 'succeeded', seconds };
}

/** Returns a function that sends requests to the service under the name of its base URL. */
async function connect(
  { baseUrl, key }: { baseUrl: string; key: string },
  { address, ca }: CheckOptions,
): Promise<Call> {
  const { hostname, port, origin } = new URL(address === undefined ? baseUrl : `https://${address}`);
  const { host, hostname: servername } = new URL(baseUrl);
  const authorities = [
    ...getCACertificates('default'),
    ...(ca === undefined || !existsSync(ca) ? [] : [await readFile(ca, 'utf8')]),
  ];
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const content = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
      const type = Buffer.isBuffer(body) ? 'application/octet-stream' : 'application/json';
      const headers = {
        host,
        authorization: `Bearer ${key}`,
        ...(content === undefined ? {} : { 'content-type': type, 'content-length': content.length }),
      };
      const connection = { hostname, port: port || 443, servername, ca: authorities, timeout: TIMEOUT_MS };
      const sent = httpsRequest({ ...connection, method, path, headers }, (got) => {
        buffer(got).then((bytes) => {
          const { statusCode = 0 } = got;
          if (statusCode < 300) return resolve(bytes);
          const said = bytes.toString('utf8').slice(0, 500);
          return reject(new CommandLineError(`${method} ${path} returned ${statusCode}: ${said}`));
        }, reject);
      });
      sent.on('timeout', () => sent.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} seconds`)));
      sent.on('error', (error) =>
        reject(new CommandLineError(`${method} ${origin}${path}: ${error.message}`, { cause: error })),
      );
      sent.end(content);
    });
}

async function json(response: Promise<Buffer>): Promise<Record<string, unknown>> {
  return JSON.parse((await response).toString('utf8')) as Record<string, unknown>;
}

function pathOf(url: unknown): string {
  const { pathname, search } = new URL(String(url));
  return pathname + search;
}
